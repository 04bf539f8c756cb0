//! What `--json` prints is what `docs/schema.json` says, and the schema names every key.

use crate::world::World;
use serde_json::Value;

const SCHEMA: &str = include_str!("../../docs/schema.json");

/// As much of JSON Schema as ours uses; a word it does not know fails.
fn check(schema: &Value, value: &Value, at: &str) {
    for (word, rule) in schema.as_object().unwrap() {
        match word.as_str() {
            "type" => assert!(has_type(rule, value), "{at}: {value} is not {rule}"),
            "enum" => assert!(rule.as_array().unwrap().contains(value), "{at}: {value} is not one of {rule}"),
            "const" => assert_eq!(rule, value, "{at}"),
            "required" if value.is_object() => {
                rule.as_array().unwrap().iter().for_each(|key| {
                    assert!(value.get(key.as_str().unwrap()).is_some(), "{at} lacks {key}");
                });
            }
            "properties" if value.is_object() => {
                for (key, inner) in value.as_object().unwrap() {
                    let rule = rule.get(key).unwrap_or_else(|| panic!("{at}.{key} is not in the schema"));
                    check(rule, inner, &format!("{at}.{key}"));
                }
            }
            "items" if value.is_array() => {
                value.as_array().unwrap().iter().for_each(|item| check(rule, item, &format!("{at}[]")));
            }
            "required" | "properties" | "items" | "$schema" | "title" | "description" => {}
            unknown => panic!("the schema uses {unknown}"),
        }
    }
}

fn has_type(rule: &Value, value: &Value) -> bool {
    let is = |name: &Value| match name.as_str().unwrap() {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "null" => value.is_null(),
        other => panic!("the schema has a type {other}"),
    };
    rule.as_array().map_or_else(|| is(rule), |names| names.iter().any(is))
}

#[test]
fn real_output_is_what_the_schema_says() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let world = World::new();
    check(&schema, &world.scruff(["--json"]).ok().json(), "$");
    let repo = world.repo("shop").with_origin("acme/shop");
    for name in ["live", "parked", "lost"] {
        world.call(["new", name]).cwd(repo.path()).run().ok();
    }
    world.call(["close", "parked"]).cwd(repo.path()).run().ok();
    let live = world.base().join("acme-shop/live");
    let sleeper = world.program("sleep").arg("600").cwd(&live).start();
    let answer = world.scruff(["--json"]).ok().json();
    sleeper.kill();
    check(&schema, &answer, "$");
    let lanes = answer["lanes"].as_array().unwrap();
    assert_eq!(lanes.len(), 3);
    assert!(lanes[0]["occupied_by"].is_array() && lanes[2].get("occupied_by").is_none(), "{answer}");
    assert_eq!((&lanes[1]["state"], &lanes[1]["path"]), (&"parked".into(), &"".into()));
}
