//! Generated files without a secret, which must pass unchanged, byte for byte: lock files, OpenAPI documents, translations,
//! syntax trees, base64, documentation.

use super::secrets::quoted;
use super::timed::redacted;
use serde_json::{Value, json};

/// A pseudo-random number that depends only on `nth`.
fn random(nth: usize) -> u64 {
    (nth as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

fn bytes(seed: usize, size: usize) -> Vec<u8> {
    (0..size).map(|nth| (random(seed * 131_071 + nth) >> 17) as u8).collect()
}

fn base64(seed: usize, size: usize) -> String {
    data_encoding::BASE64.encode(&bytes(seed, size))
}

fn hex(seed: usize, size: usize) -> String {
    bytes(seed, size).iter().map(|byte| format!("{byte:02x}")).collect()
}

const PACKAGES: [&str; 12] = [
    "cookie",
    "jsonwebtoken",
    "csurf-token",
    "password-hash",
    "secret-stack",
    "set-cookie-parser",
    "js-tokens",
    "express-session",
    "api-key",
    "authorization",
    "token-types",
    "passport",
];

fn package_json() -> String {
    let versions = [
        "^0.7.2",
        "~1.2.3",
        "1.0.0-beta.1",
        ">=1.2.0 <2.0.0",
        "*",
        "latest",
        "workspace:*",
        "npm:cookie@^0.7.2",
        "2.x",
        "v3.1.4+build.5",
    ];
    let all: serde_json::Map<String, Value> = [
        "cookie",
        "token",
        "password",
        "secret",
        "authorization",
        "api_key",
        "passphrase",
        "auth-token",
        "access-token",
        "cookie_secret",
    ]
    .iter()
    .zip(versions)
    .map(|(name, version)| ((*name).to_owned(), version.into()))
    .collect();
    serde_json::to_string_pretty(
        &json!({"name": "x", "version": "1.0.0", "dependencies": all, "engines": {"node": ">=18"}}),
    )
    .unwrap()
}

fn package_lock() -> String {
    let packages: serde_json::Map<String, Value> = PACKAGES
        .iter()
        .enumerate()
        .map(|(nth, name)| {
            let about = json!({"version": format!("{nth}.{}.0", nth * 3), "resolved": format!("https://registry.npmjs.org/{name}/-/{name}-{nth}.0.0.tgz"),
                "integrity": format!("sha512-{}", base64(nth, 64)), "dependencies": {"cookie": "0.7.2", "token": "^1.0.0"}});
            (format!("node_modules/{name}"), about)
        })
        .collect();
    serde_json::to_string_pretty(&json!({"lockfileVersion": 3, "packages": packages})).unwrap()
}

fn other_locks() -> Vec<String> {
    let cargo = PACKAGES.iter().enumerate().map(|(nth, name)| {
        format!("[[package]]\nname = \"{name}\"\nversion = \"0.{nth}.1\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\nchecksum = \"{}\"\n\n", hex(nth, 32))
    });
    let yarn = PACKAGES.iter().enumerate().map(|(nth, name)| {
        format!("{name}@^{nth}.0.0:\n  version \"{nth}.0.1\"\n  resolved \"https://registry.yarnpkg.com/{name}/-/{name}-{nth}.0.1.tgz#{}\"\n  integrity sha512-{}\n\n", hex(nth, 20), base64(nth + 50, 64))
    });
    let pnpm = PACKAGES.iter().enumerate().map(|(nth, name)| format!("  /{name}@{nth}.0.1:\n    resolution: {{integrity: sha512-{}}}\n    engines: {{node: '>= 0.6'}}\n    dependencies:\n      cookie: 0.7.2\n      token: 1.0.0\n", base64(nth + 99, 64)));
    let go = PACKAGES
        .iter()
        .enumerate()
        .map(|(nth, name)| format!("github.com/x/{name} v1.{nth}.0 h1:{}=\n", base64(nth + 200, 32)));
    let poetry = PACKAGES.iter().enumerate().map(|(nth, name)| format!("[[package]]\nname = \"{name}\"\nfiles = [\n    {{file = \"{name}-{nth}.0.tar.gz\", hash = \"sha256:{}\"}},\n]\n", hex(nth + 300, 32)));
    vec![cargo.collect(), yarn.collect(), pnpm.collect(), go.collect(), poetry.collect()]
}

fn openapi() -> Value {
    let password = json!({"type": "string", "format": "password", "minLength": 8, "maxLength": 64, "description": "The password, 8 to 64 characters", "example": "Passw0rd1!x"});
    json!({"openapi": "3.1.0", "components": {
        "securitySchemes": {"authorization": {"type": "apiKey", "in": "header", "name": "Authorization", "description": "Bearer token, as `Bearer <token>`"},
            "api_key": {"type": "apiKey", "in": "query", "name": "api_key"},
            "token": {"type": "oauth2", "flows": {"implicit": {"authorizationUrl": "https://auth.example/oauth2/v2/authorize", "tokenUrl": "https://auth.example/oauth2/v2/token", "scopes": {"read:user2": "Read users"}}}}},
        "schemas": {"Login": {"type": "object", "required": ["password", "token"], "properties": {"password": password, "passwordConfirm": password,
            "token": {"$ref": "#/components/schemas/Token2"}, "secret": {"type": ["string", "null"], "maxLength": 256, "pattern": "^[A-Za-z0-9_-]{43}$"},
            "cookie": {"type": "string", "default": "session=abc"}, "access_token": {"type": "string", "enum": ["opaque", "jwt"]},
            "api_key": {"type": "string", "minLength": 32, "maxLength": 1_048_576}}}}},
        "paths": {"/oauth2/token": {"post": {"parameters": [{"name": "authorization", "in": "header", "schema": {"type": "string"}}],
            "security": [{"authorization": []}, {"api_key": []}, {"token": ["read:user2"]}]}}}})
}

fn translations() -> Vec<Value> {
    [
        ["Password", "Forgot your password?", "Enter the 6-digit token from your app", "Secret", "Use of cookies", "API key", "Session token expired"],
        ["Passwort", "Passwort vergessen?", "Geben Sie den 6-stelligen Code ein", "Geheimnis", "Verwendung von Cookies", "API-Schlüssel", "Sitzung abgelaufen"],
        ["Mot de passe", "Mot de passe oublié ?", "Saisissez le code à 6 chiffres", "Secret :", "Utilisation des cookies", "Clé d’API", "Jeton expiré"],
        ["パスワード", "パスワードをお忘れですか？", "アプリの6桁のコードを入力してください", "シークレット", "クッキー", "APIキー", "セッションの有効期限が切れました"],
        ["Пароль", "Забыли пароль?", "Введите код из 6 цифр", "Секрет", "Файлы cookie", "Ключ API", "Срок действия истёк"],
        ["密码", "忘记密码？", "请输入6位验证码", "密钥", "Cookie", "API密钥", "会话已过期，请重新登录"],
        ["Password*", "Reset {{name}}'s password", "Your token: {token}", "%{secret}", "<b>Cookies</b>", "API key ({count})", "auth.token.expired"],
    ]
    .iter()
    .map(|words| json!({"login": {"password": words[0], "forgot_password": words[1], "token": words[2], "secret": words[3], "cookie": words[4], "apiKey": words[5], "sessionToken": words[6], "password_confirmation": words[0]}}))
    .collect()
}

fn syntax_tree() -> Value {
    let token = |nth: usize, kind: &str, value: &str| {
        json!({"token": {"type": kind, "value": value, "start": nth * 17, "end": nth * 17 + value.len(), "range": [nth, nth + 3],
        "loc": {"start": {"line": nth, "column": 4}, "end": {"line": nth, "column": 9}}}, "kind": 79})
    };
    json!({"tokens": [token(1, "Keyword", "const"), token(2, "Identifier", "password"), token(3, "Punctuator", "=>"), token(4, "Identifier", "sha256"), token(5, "Template", "`x${"),
        token(131_072, "Numeric", "0x1f"), token(7, "Identifier", "accessToken2")], "token": "Identifier", "secret": true, "password": false, "cookie": 3, "token_count": 1_234_567})
}

const TEXTS: &[&str] = &[
    "export TOKEN=<token>\nexport API_KEY=${API_KEY}\nPASSWORD=changeme\nDB_PASSWORD=your-password-1\nSECRET=xxxxxxxxxxxx1\nTOKEN=$(cat /run/secrets/token1)\n",
    "curl -H 'Authorization: Bearer <token>' -H \"x-api-key: $API_KEY_V2\" https://api.example/v1?access_token={token}&api_key=YOUR_API_KEY1\n",
    "The option --password takes a value; --token FILE names a file. Set password: in the file, the token: is optional (secret: yes).\n",
    "let token = parser.next_token2();\nconst apiKey = process.env.API_KEY_2;\nself.password = config2.password1\npassword: string2;\ntoken = tokens[i1]\n",
    "fn password(&self) -> &str { \"password1\" }\nif (token === 'access_token2') return secret == expected1value;\nconst PASSWORD_MIN = 12345678;\n",
    "{ password: 'Passwort', token: \"Token\", secret: 'client_secret', cookie: 'cookie-banner' }\n<password>Enter it</password>\n<input type=\"password\" name=\"password1\">\n",
    "postgres://user:password@localhost:5432/db is an example; see http://localhost:3000/@vite/client, http://127.0.0.1:8080/x@y and https://a.example:443/@x\n",
    "git clone git@github.com:owner/repo.git; ssh://git@host:22/x; mailto:joe@example.com; see http://host:port/path\n",
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA\n-----END PUBLIC KEY-----\nA file that begins with -----BEGIN PRIVATE KEY----- is one.\n",
    "sk-learn, task-sk-1, npm_config_registry, ghp_, AKIA, hf_hub_download, live_reload_enabled_by_default, test_that_it_works_in_all_cases, api-docs\n",
    "use AKIAIOSFODNN7EXAMPLE and wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY, sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx or ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n",
    "INFO token=none user=joe1 secret=false\nusage: input_tokens=12345678 max_tokens=81920000 next_page_token=CAUQAA12345678\n",
    "on:\n  push:\nenv:\n  TOKEN: ${{ secrets.GITHUB_TOKEN }}\n  PASSWORD: ${{ secrets.DB_PASSWORD_2 }}\npermissions:\n  id-token: write\n  contents: read2\n",
    "[theme]\ntoken.colors = \"#a1b2c3\"\npassword_file = \"/run/secrets/db1\"\nsecret_name = \"db-secret-v2\"\ncookie_domain = \"a1.example.com\"\n",
    "error at 12:04: could not parse {\"password\": \"\nline 2 of the log, with id 7f3a9c and 12 more lines\nline 3: it goes on, token by token, 2f8b1c77d0 bytes\n",
];

fn documents() -> Vec<String> {
    let pretty = |value: &Value| serde_json::to_string_pretty(value).unwrap();
    let mut all =
        vec![package_json(), package_lock(), pretty(&openapi()), openapi().to_string(), pretty(&syntax_tree())];
    all.extend(other_locks());
    all.extend(translations().iter().map(pretty));
    all.extend((0..8).map(|nth| base64(nth, 60_000)));
    all.extend((0..8).map(|nth| data_encoding::BASE64URL.encode(&bytes(nth + 40, 60_000))));
    all.push((0..400).map(|nth| format!("{}  src/file{nth}.rs\n", hex(nth, 32))).collect());
    all.extend(TEXTS.iter().map(|text| (*text).to_owned()));
    all
}

fn differing(document: &str, records: &[(u64, String)]) -> Option<String> {
    let out = redacted(records);
    let (record, changed) = records.iter().zip(&out).find(|((_, record), out)| record != *out)?;
    let at = record.1.bytes().zip(changed.bytes()).position(|(a, b)| a != b).unwrap_or_default();
    let around = |text: &str| {
        String::from_utf8_lossy(text.as_bytes().get(at.saturating_sub(60)..text.len().min(at + 60)).unwrap_or_default())
            .into_owned()
    };
    Some(format!(
        "{}…: {}\n   became {}",
        document.chars().take(24).collect::<String>().escape_debug(),
        around(&record.1),
        around(changed)
    ))
}

#[test]
fn documents_without_secrets_are_unchanged() {
    let mut wrong = Vec::new();
    for document in documents() {
        let lines: Vec<&str> = document.lines().collect();
        for record in [
            json!({"type": "x", "text": document}).to_string(),
            json!({"type": "x", "arguments": json!({"content": document}).to_string()}).to_string(),
            json!({"type": "x", "lines": lines}).to_string(),
            serde_json::from_str::<Value>(&document)
                .map_or_else(|_| "{}".to_owned(), |value| json!({"file": value}).to_string()),
            format!("out: {}", document.replace('\n', " ")),
        ] {
            wrong.extend(differing(&document, &[(0, record)]));
        }
    }
    assert!(wrong.is_empty(), "{} changed\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn streamed_documents_without_secrets_are_unchanged() {
    let mut wrong = Vec::new();
    for document in documents().into_iter().filter(|document| document.len() < 20_000) {
        for text in [document.clone(), json!({"content": document}).to_string()] {
            let chars: Vec<char> = text.chars().collect();
            let pieces = chars.chunks(4).map(|piece| piece.iter().collect::<String>()).enumerate();
            let records: Vec<(u64, String)> = pieces
                .map(|(nth, piece)| (nth as u64 * 90, format!("{{\"id\":1,\"delta\":{}}}", quoted(&piece))))
                .collect();
            wrong.extend(differing(&document, &records));
        }
    }
    assert!(wrong.is_empty(), "{} changed\n{}", wrong.len(), wrong.join("\n"));
}
