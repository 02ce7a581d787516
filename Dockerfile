# syntax=docker/dockerfile:1
FROM mcr.microsoft.com/dotnet/sdk:10.0 AS build
# The native build is linked by a C compiler.
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends gcc libc6-dev
WORKDIR /source
COPY . .
RUN dotnet publish main/GarnetServer -c Release -p:Native=true -o /image/app
# What the program loads, and nothing else: the C library, and OpenSSL, which seals snapshots and encrypts connections.
RUN ssl=$(find /usr/lib -name libssl.so.3) \
 && for library in $ssl $(ldd /image/app/* $ssl | grep -o '/[^ :]*\.so[^ :]*' | grep -v ^/image | sort -u); do \
      install -D -m 755 "$library" "/image$library"; \
    done \
 && install -d /image/data && chmod -R a+rX /image

# No shell, no package manager, no runtime: an empty base.
FROM scratch
COPY --from=build /image /
# An ordinary user, by number, as there is no list of users; the directory is its own.
COPY --from=build --chown=1654:1654 /image/data /data
WORKDIR /data
USER 1654:1654
ENV GARNET_BIND="* -::*"
EXPOSE 6379
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=4s --start-period=3s CMD ["/app/garnet-server", "ping"]
ENTRYPOINT ["/app/garnet-server"]
