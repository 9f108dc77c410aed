// Writes src/generated: the declarations of every contract in schemas/, the types of the API's own objects (clients/api.json),
// and the map from a contract's name to its events. `--check` writes nothing and fails if a file differs.
//
// A contract is found by its folder, schemas/NAME/vN with a document.json. No contract is named here.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const schemas = path('../../../schemas/');
const generated = path('../src/generated/');
const isCheck = process.argv.includes('--check');
const read = (file) => readFileSync(file, 'utf8');

function contracts() {
  const found = [];
  for (const name of readdirSync(schemas)) {
    if (!/^[a-z]/.test(name) || name.includes('.')) continue;
    for (const version of readdirSync(schemas + name)) {
      const folder = `${schemas}${name}/${version}/`;
      if (existsSync(`${folder}document.json`)) found.push({ name: `${name}.${version}`, folder });
    }
  }
  return found.sort((one, other) => (one.name < other.name ? -1 : 1));
}

const pascal = (name) => name.replace(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, letter) => letter.toUpperCase());

/** The property whose constant is the name of the type, in every schema of a contract; `undefined` if there is none. */
function typeKey({ folder }) {
  const kinds = readdirSync(folder).filter((file) => file.endsWith('.schema.json'));
  const keys = kinds.map((file) => {
    const { properties } = JSON.parse(read(folder + file));
    const kind = file.slice(0, -'.schema.json'.length);
    return new Set(Object.keys(properties).filter((key) => properties[key].const === kind));
  });
  return [...keys[0]].find((key) => keys.every((set) => set.has(key)));
}

function comment(text, indent) {
  if (!text) return '';
  const safe = text.replaceAll('*/', '*\\/');
  return `${indent}/** ${safe} */\n`;
}

const union = (types) => (types.includes('unknown') ? 'unknown' : [...new Set(types)].join(' | '));

function typeOf(schema, indent) {
  if (schema.$ref) return schema.$ref.replace('#/$defs/', '');
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum) return union(schema.enum.map((value) => JSON.stringify(value)));
  if (schema.anyOf) return union(schema.anyOf.map((one) => typeOf(one, indent)));
  const types = [schema.type ?? []].flat().map((type) => {
    switch (type) {
      case 'object':
        return object(schema, indent);
      case 'array': {
        const item = typeOf(schema.items ?? {}, indent);
        return /[|&]/.test(item) && !item.startsWith('{') ? `(${item})[]` : `${item}[]`;
      }
      case 'integer':
      case 'number':
        return 'number';
      case 'string':
      case 'boolean':
      case 'null':
        return type;
      default:
        throw new Error(`the type ${type} is unknown`);
    }
  });
  return types.length === 0 ? 'unknown' : union(types);
}

function object(schema, indent) {
  if (!schema.properties) {
    const { additionalProperties: rest } = schema;
    return `{ [key: string]: ${rest && rest !== true ? typeOf(rest, indent) : 'unknown'} }`;
  }
  const inner = `${indent}  `;
  const members = Object.entries(schema.properties).map(([name, property]) => {
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
    const mark = schema.required?.includes(name) ? '' : '?';
    return `${comment(property.description, inner)}${inner}${key}${mark}: ${typeOf(property, inner)};\n`;
  });
  return `{\n${members.join('')}${indent}}`;
}

function api() {
  let out = '// The objects of the API, from clients/api.json. Written by scripts/generate.mjs; do not edit.\n';
  for (const [name, schema] of Object.entries(JSON.parse(read(path('../../api.json'))).$defs)) {
    const type = typeOf(schema, '');
    out += `\n${comment(schema.description, '')}`;
    out += type.startsWith('{\n') ? `export interface ${name} ${type}\n` : `export type ${name} = ${type};\n`;
  }
  return out;
}

function index(found) {
  let out = '// The contracts, from schemas/. Written by scripts/generate.mjs; do not edit.\n\n';
  for (const { name } of found) out += `import type { ${pascal(name)}Event } from "./${name}.js";\n`;
  out += 'import type { RawRecord } from "./api.js";\n\n';
  for (const { name } of found) out += `export type * as ${pascal(name)} from "./${name}.js";\n`;
  out += `export type { ${found.map(({ name }) => `${pascal(name)}Event`).join(', ')} };\n`;
  out += '\n/** Maps each contract to its events. */\nexport interface ContractEvents {\n';
  for (const { name } of found) out += `  ${JSON.stringify(name)}: ${pascal(name)}Event;\n`;
  out += '}\n\n/** The same, with the runner\'s own records, which only a single run has. */\n';
  out += 'export interface RunContractEvents extends ContractEvents {\n  raw: RawRecord;\n}\n';
  out += '\n/** All contracts. */\nexport const contractNames = [\n';
  for (const { name } of found) out += `  ${JSON.stringify(name)},\n`;
  out += '] as const satisfies readonly (keyof ContractEvents)[];\n';
  out += '\n/** The key that tells the types of events apart, for each contract that has one. */\nexport const typeKeys = {\n';
  for (const contract of found) {
    const key = typeKey(contract);
    if (key !== undefined) out += `  ${JSON.stringify(contract.name)}: ${JSON.stringify(key)},\n`;
  }
  return `${out}} as const satisfies { [C in keyof ContractEvents]?: string };\n`;
}

const found = contracts();
const files = new Map([
  ['api.ts', api()],
  ['contracts.ts', index(found)],
]);
for (const { name } of found) files.set(`${name}.ts`, read(`${schemas}types/${name}.d.ts`));

mkdirSync(generated, { recursive: true });
const stale = [];
for (const [name, text] of files) {
  const file = generated + name;
  if (existsSync(file) && read(file) === text) continue;
  stale.push(name);
  if (!isCheck) writeFileSync(file, text);
}
for (const name of readdirSync(generated).filter((name) => !files.has(name))) {
  stale.push(name);
  if (!isCheck) rmSync(generated + name);
}
if (isCheck && stale.length > 0) {
  console.error(`clients/typescript/src/generated is stale: ${stale.join(', ')}; node clients/typescript/scripts/generate.mjs rewrites it`);
  process.exit(1);
}
