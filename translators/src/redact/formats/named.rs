//! Secrets without a fixed form, which are found by the vendor's name before them: `ALGOLIA_ADMIN=…`, `"snyk": "…"`.
//!
//! The name that the value is assigned to contains the vendor's word, and the value has the size of that vendor's secrets.

use super::super::class::Class;
use super::{Format, Shape, Sure};

const fn named(stems: &'static [&'static str], class: Class, sizes: &'static [(usize, usize)]) -> Format {
    let about = "values of the size of a vendor's secrets, assigned to a name with the vendor in it";
    Format {
        name: "vendor-secret",
        about,
        stems,
        shape: Shape::Named { class, sizes },
        sure: Sure { part: 0, bytes: 1 },
    }
}

pub(super) const FORMATS: &[Format] = &[
    named(&["adobe", "algolia", "amplitude"], Class::Lower, &[(32, 32)]),
    named(&["asana", "bittrex", "codecov", "droneci", "flickr", "mistral", "privateai"], Class::Alnum, &[(32, 32)]),
    named(&["atlassian", "looker"], Class::Alnum, &[(20, 20), (24, 24)]),
    named(&["auth0", "coinbase"], Class::Dashed, &[(64, 64)]),
    named(&["bitbucket", "newrelic", "new_relic"], Class::Dashed, &[(32, 32), (64, 64)]),
    named(&["cloudinary"], Class::Dashed, &[(27, 27)]),
    named(&["cohere", "zendesk"], Class::Alnum, &[(40, 40)]),
    named(&["confluence", "etsy", "jira"], Class::Alnum, &[(24, 24)]),
    named(&["confluent"], Class::Alnum, &[(16, 16), (64, 64)]),
    named(&["contentful"], Class::Dashed, &[(43, 43)]),
    named(&["datadog"], Class::Alnum, &[(32, 32), (40, 40)]),
    named(&["deepgram", "wandb"], Class::LowerHex, &[(40, 40)]),
    named(&["discord"], Class::Dashed, &[(32, 32), (59, 59), (64, 64)]),
    named(&["dropbox"], Class::Alnum, &[(15, 15)]),
    named(&["facebook", "openweather", "rollbar", "twilio"], Class::LowerHex, &[(32, 32)]),
    named(&["fastly", "nytimes", "teamcity"], Class::Dashed, &[(32, 32)]),
    named(&["finicity"], Class::Alnum, &[(20, 20), (32, 32)]),
    named(&["finnhub"], Class::Alnum, &[(20, 20)]),
    named(&["freshbooks", "hetzner"], Class::Alnum, &[(64, 64)]),
    named(&["gitter", "launchdarkly"], Class::Dashed, &[(40, 40)]),
    named(&["heroku", "hubspot", "snyk", "splunk", "squarespace", "vultr"], Class::Dashed, &[(36, 36)]),
    named(&["intercom"], Class::Dashed, &[(60, 60)]),
    named(&["jfrog"], Class::Alnum, &[(73, 73)]),
    named(&["kraken"], Class::Token68, &[(80, 90)]),
    named(&["kucoin"], Class::Dashed, &[(24, 24), (36, 36)]),
    named(&["linkedin"], Class::Alnum, &[(14, 14), (16, 16)]),
    named(&["mattermost"], Class::Alnum, &[(26, 26)]),
    named(&["messagebird"], Class::Dashed, &[(25, 25), (36, 36)]),
    named(&["netlify"], Class::Dashed, &[(40, 40), (46, 46)]),
    named(&["ngrok"], Class::Dashed, &[(49, 49)]),
    named(&["okta"], Class::Dashed, &[(42, 42)]),
    named(&["pagerduty"], Class::Token68, &[(20, 20)]),
    named(&["plaid"], Class::Alnum, &[(24, 24), (30, 30)]),
    named(&["rapidapi"], Class::Dashed, &[(50, 50)]),
    named(&["sendbird"], Class::Dashed, &[(36, 36), (40, 40)]),
    named(&["sentry"], Class::LowerHex, &[(64, 64)]),
    named(&["sumologic"], Class::Alnum, &[(14, 14), (64, 64)]),
    named(&["telegram"], Class::Token68, &[(45, 45), (46, 46)]),
    named(&["travis"], Class::Dashed, &[(22, 22)]),
    named(&["trello"], Class::Alnum, &[(32, 32), (64, 64)]),
    named(&["twitch"], Class::Alnum, &[(30, 30)]),
    named(&["twitter"], Class::Dashed, &[(25, 25), (50, 50)]),
];
