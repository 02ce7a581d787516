# syntax=docker/dockerfile:1
FROM mcr.microsoft.com/dotnet/sdk:10.0 AS build
# The native build is linked by a C compiler; its library for values beside the connection is C++.
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends gcc g++ libc6-dev cmake make
WORKDIR /source
COPY . .
RUN dotnet publish main/GarnetServer -c Release -p:Native=true -o /published && main/image.sh /published /image

# No shell, no package manager, no runtime: an empty base. test/image.sh builds from here on, and looks at what it gets.
FROM scratch
COPY --from=build /image/root /
# An ordinary user, by number, as there is no list of users; the directory is its own. It is in no copy before this one: a directory that
# is there already would keep its owner.
COPY --from=build --chown=1654:1654 /image/data /data
WORKDIR /data
USER 1654:1654
ENV GARNET_BIND="* -::*"
EXPOSE 6379
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=4s --start-period=3s CMD ["/app/garnet-server", "ping"]
ENTRYPOINT ["/app/garnet-server"]
