# syntax=docker/dockerfile:1
FROM mcr.microsoft.com/dotnet/sdk:10.0 AS build
ARG TARGETARCH
WORKDIR /source
COPY . .
# Ready-to-run code starts without compiling; the image for the right machine is chosen by the builder.
RUN arch=$([ "$TARGETARCH" = arm64 ] && echo arm64 || echo x64) \
 && dotnet publish main/GarnetServer -c Release -r linux-$arch --self-contained false -p:PublishReadyToRun=true -o /app

# No shell and no package manager in the image that runs.
FROM mcr.microsoft.com/dotnet/runtime:10.0-noble-chiseled
WORKDIR /data
COPY --from=build /app /app
# The runtime image's own ordinary user.
USER $APP_UID
ENV GARNET_BIND="* -::*" DOTNET_EnableDiagnostics=0
EXPOSE 6379
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=4s --start-period=3s CMD ["/app/garnet-server", "ping"]
ENTRYPOINT ["/app/garnet-server"]
