// What an approval asks for, beyond yes or no: choices, texts, the fields of a form.
//
// In: the arguments of `approval_requested`. Out: questions in the order in which `answers` of the API has them; none for a plain yes or no.
import type { Approval } from "./items";
import { boolean, field, isObject, list, text, texts } from "./read";

export interface Choice {
  /** What is sent as the answer. */
  value: string;
  label: string;
  description: string | undefined;
}

export interface Question {
  /** A short name. */
  header: string | undefined;
  text: string;
  choices: Choice[];
  /** Several choices may be taken. */
  isMultiple: boolean;
  /** An answer in the reader's own words is possible. */
  takesText: boolean;
  isSecret: boolean;
  isRequired: boolean;
  input: "text" | "number";
}

export function questionsOf(args: Approval["args"]): Question[] {
  const asked = list(args, "questions").filter(isObject);
  if (asked.length > 0) return asked.map(asQuestion);
  const schema = field(args, "requestedSchema") ?? field(args, "requested_schema");
  const properties = field(schema, "properties");
  if (!isObject(properties) || text(args, "mode") === "url") return [];
  const required = texts(schema, "required");
  return Object.entries(properties).map(([name, about]) => asField(name, about, required.includes(name)));
}

function asQuestion(value: unknown): Question {
  const choices = list(value, "options").flatMap((option): Choice[] => {
    const label = typeof option === "string" ? option : text(option, "label");
    return label === undefined ? [] : [{ value: label, label, description: text(option, "description") }];
  });
  return {
    header: text(value, "header"),
    text: text(value, "question") ?? text(value, "header") ?? "",
    choices,
    isMultiple: boolean(value, "multiSelect") ?? boolean(value, "multiple") ?? false,
    // The runners take an answer in other words beside their choices, unless they say that they do not.
    takesText: choices.length === 0 || boolean(value, "isOther") !== false,
    isSecret: boolean(value, "isSecret") ?? false,
    isRequired: true,
    input: "text",
  };
}

function asField(name: string, about: unknown, isRequired: boolean): Question {
  const type = text(about, "type");
  const items = field(about, "items");
  const choices = choicesOf(type === "array" ? items : about, type);
  return {
    header: text(about, "title") ?? name,
    text: text(about, "description") ?? text(about, "title") ?? name,
    choices,
    isMultiple: type === "array",
    takesText: choices.length === 0,
    isSecret: text(about, "format") === "password" || (boolean(about, "writeOnly") ?? false),
    isRequired,
    input: type === "number" || type === "integer" ? "number" : "text",
  };
}

function choicesOf(about: unknown, type: string | undefined): Choice[] {
  if (type === "boolean") return ["true", "false"].map((value) => ({ value, label: value === "true" ? "Yes" : "No", description: undefined }));
  for (const key of ["oneOf", "anyOf"]) {
    const options = list(about, key).flatMap((option): Choice[] => {
      const value = text(option, "const");
      return value === undefined ? [] : [{ value, label: text(option, "title") ?? value, description: text(option, "description") }];
    });
    if (options.length > 0) return options;
  }
  const names = list(about, "enumNames");
  return texts(about, "enum").map((value, index) => {
    const name = names[index];
    return { value, label: typeof name === "string" ? name : value, description: undefined };
  });
}
