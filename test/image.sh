#!/usr/bin/env bash
# Makes the container image out of the native build that is there, by the Dockerfile's own last stage, and uses it as a stranger would:
# what is in it, whom it runs as, what it keeps, how it is asked for its health and stopped.
#   test/image.sh
# 77: nothing was tested, and the last line says why.
set -uo pipefail
cd "$(dirname "$0")/.."
skip() { echo "image: skipped, $1"; exit 77; }
fail() { echo "image: $1" >&2; exit 1; }
published=artifacts/publish/GarnetServer/native
limit=25000000 # bytes: what decision 10 promises

for tool in podman openssl; do command -v $tool >/dev/null || skip "there is no $tool"; done
[ -x $published/garnet-server ] || skip "there is no native build: dotnet publish main/GarnetServer -c Release -p:Native=true"

folder=$(mktemp -d)
name=garnet-test-$$ image=localhost/garnet-test:$$
engine=(podman --log-level fatal)
finish() {
  "${engine[@]}" rm -f -t 0 "$name"
  "${engine[@]}" volume rm -f "$name"
  "${engine[@]}" rmi -f "$image"
  rm -rf "$folder"
} >/dev/null 2>&1
trap finish EXIT

main/image.sh $published "$folder/build/image" || fail "the tree of the image could not be laid out"
sed -n '/^FROM scratch/,$p' Dockerfile >"$folder/Dockerfile"
podman build -q --format docker --layers=false --build-context build="$folder/build" -f "$folder/Dockerfile" -t "$image" "$folder/build" \
  >"$folder/log" 2>&1 || { cat "$folder/log"; skip "podman cannot build here"; }

# Nobody's default limits: a machine that is a container itself may not raise them. Nothing is to be written but what a volume is for.
options=(--read-only --read-only-tmpfs=false --cap-drop all --security-opt no-new-privileges --network host
  --ulimit nofile=4096:4096 --ulimit nproc=4096:4096 --health-interval disable)
# 125 is podman's own failure, and so is a runtime that cannot do with the machine's cgroups; what the image does is none of these.
runs=
for runtime in "" crun runc; do
  [ -z "$runtime" ] || command -v $runtime >/dev/null || continue
  engine=(podman --log-level fatal ${runtime:+--runtime $runtime})
  said=$("${engine[@]}" run --rm "${options[@]}" "$image" --version 2>&1) && { runs=yes; break; }
done
[ -n "$runs" ] || case $said in
  *"OCI "* | *cgroup* | *"Error: "*) skip "podman runs no container here: $said" ;;
  *) fail "the image does not start: $said" ;;
esac
echo "image: $said, run by podman${runtime:+ with $runtime}"

# What lies in it.
size=$("${engine[@]}" image inspect "$image" --format '{{.Size}}')
[ "$size" -le $limit ] || fail "$size bytes, more than $limit"
"${engine[@]}" save "$image" 2>/dev/null | tar -x -C "$folder" --wildcards '*.tar' || fail "the layers cannot be read"
for layer in "$folder"/*.tar; do tar -tv --numeric-owner -f "$layer"; done | tr -s ' ' >"$folder/files"
strange=$(grep -v '^d' "$folder/files" | grep -vE ' (app/garnet-server|[^ ]*\.so(\.[0-9]+)?)$')
[ -z "$strange" ] || fail "there is more than the program and libraries: $strange"
grep -q ' app/garnet-server$' "$folder/files" || fail "there is no program"
grep -q ' app/libgarnet-bulk.so$' "$folder/files" || [ ! -e $published/libgarnet-bulk.so ] || fail "there is no libgarnet-bulk.so"
[ "$(grep -cE '^d.* 1654/1654 .* data/$' "$folder/files")" = 1 ] || fail "/data is not the user's"
others=$(grep -vE ' data/$' "$folder/files" | grep -vE '^.{8}-.* 0/0 ')
[ -z "$others" ] || fail "somebody else than root may write: $others"
[ "$("${engine[@]}" image inspect "$image" --format '{{.Config.User}}')" = 1654:1654 ] || fail "it is not an ordinary user's"
echo "image: $size bytes, $(grep -vc '^d' "$folder/files") files, none of them a shell"

port=$((22000 + RANDOM % 999))
# start OPTION... -- ARGUMENT...: a container that answers its health check.
start() {
  local given=()
  while [ "$1" != -- ]; do given+=("$1"); shift; done
  shift
  "${engine[@]}" run -d --name "$name" "${options[@]}" "${given[@]}" "$image" "$@" >"$folder/log" 2>&1 || fail "$(cat "$folder/log")"
  for _ in $(seq 100); do
    "${engine[@]}" healthcheck run "$name" >/dev/null 2>&1 && return
    read -rt 0.1 <> <(:) || true
  done
  fail "it does not get healthy: $("${engine[@]}" logs "$name" 2>&1)"
}
# stop: as `docker stop` does it, SIGTERM and ten seconds; 137 is who had to be killed.
stop() {
  "${engine[@]}" stop -t 10 "$name" >/dev/null
  local code; code=$("${engine[@]}" inspect "$name" --format '{{.State.ExitCode}}')
  [ "$code" = 0 ] || fail "it ended with $code: $("${engine[@]}" logs "$name" 2>&1)"
  "${engine[@]}" rm "$name" >/dev/null
}
# ask WORD...: a command, and the first line of its reply, or the value behind that.
ask() {
  local word line
  exec 3<>"/dev/tcp/127.0.0.1/$port" || fail "nobody listens at $port"
  { printf '*%d\r\n' $#; for word; do printf '$%d\r\n%s\r\n' ${#word} "$word"; done; } >&3
  IFS= read -rt 10 line <&3
  [[ $line != \$[0-9]* ]] || IFS= read -rt 10 line <&3
  exec 3>&-
  printf '%s' "${line%$'\r'}"
}
is() { local wanted=$1 got; shift; got=$(ask "$@"); [ "$got" = "$wanted" ] || fail "$*: $got instead of $wanted"; }

# A language and a time zone that the image knows nothing of; a port from the environment, where the health check finds it too.
kept=(-e GARNET_PORT=$port -e LANG=de_AT.UTF-8 -e TZ=Europe/Vienna -v "$name:/data")
start "${kept[@]}" -- --dir /data
is +PONG PING
is +OK SET before saved
is +OK SAVE
is +OK SET after logged
is 4950 EVAL 'local n = 0 for i = 1, 99 do n = n + i end return tostring(n)' 0
"${engine[@]}" exec "$name" /app/garnet-server ping --port $((port + 1)) >/dev/null 2>&1
[ $? = 1 ] || fail "a ping that nobody answers is no failure"
exec 3<>"/dev/tcp/127.0.0.1/$port"
printf 'BULK.INFO\r\n' >&3
bulk=$(timeout 5 sed '/^inline/q' <&3 | grep '^local' | tr -d '\r')
exec 3>&-
[ -n "$bulk" ] || fail "BULK.INFO does not say whether there is local"
[ ! -e $published/libgarnet-bulk.so ] || [[ $bulk != *libgarnet-bulk* ]] || fail "$bulk"
of_process=$("${engine[@]}" inspect "$name" --format '{{.State.Pid}}')
grep -q '^Uid:.1654.1654.1654.1654$' "/proc/$of_process/status" || fail "it runs as $(grep ^Uid "/proc/$of_process/status")"
writable=$(awk '$6 ~ /^rw/ && $9 !~ /^(proc|sysfs|devpts|mqueue|cgroup2?)$/ && $5 !~ /^\/(data|dev|dev\/shm|sys\/.*|proc\/.*|etc\/.*|run\/.*)$/ { print $5 }' \
  "/proc/$of_process/mountinfo")
[ -z "$writable" ] || fail "may be written to: $writable"
warned=$("${engine[@]}" logs "$name" 2>&1 | grep -iE 'culture|locale|time zone|openssl|ssl')
[ -z "$warned" ] || fail "$warned"
stop
# The snapshot was sealed by OpenSSL, and is opened by it.
start "${kept[@]}" -- --dir /data
is saved GET before
is logged GET after
stop
echo "image: keeps its data, as user 1654 on a root that nobody writes to; bulk: $bulk"

# TLS and nothing else: the health check is a client of it.
mkdir -m 755 "$folder/keys"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost -keyout "$folder/keys/key" \
  -out "$folder/keys/certificate" 2>/dev/null || fail "openssl makes no key"
chmod 644 "$folder"/keys/*
start -e GARNET_PORT=0 -e GARNET_TLS_PORT=$port -e GARNET_TLS_CERT_FILE=/keys/certificate -e GARNET_TLS_KEY_FILE=/keys/key \
  -e GARNET_TLS_AUTH_CLIENTS=no -v "$folder/keys:/keys:ro" --
printf 'PING\r\nQUIT\r\n' | timeout 10 openssl s_client -quiet -connect 127.0.0.1:$port -CAfile "$folder/keys/certificate" -verify_return_error 2>/dev/null \
  | grep -q '^+PONG' || fail "no PONG over TLS"
stop
echo "image: TLS, Lua, snapshots, health and stop are as they should be"
