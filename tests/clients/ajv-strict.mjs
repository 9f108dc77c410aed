// Compiles JSON Schemas with ajv in its strict mode: those of an OpenAPI document, and those of files. Exit code 1 where one fails.
import { readFileSync } from 'node:fs';
import Ajv from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

const [document, ...files] = process.argv.slice(2).map((file) => [file, JSON.parse(readFileSync(file, 'utf8'))]);
const fresh = () => formats(new Ajv({ strict: true }));
let compiled = 0;
const check = (place, compile) => {
  try {
    compile();
    compiled += 1;
  } catch (error) {
    console.error(`${place}: ${error.message}`);
    process.exitCode = 1;
  }
};

for (const [file, schema] of files) check(file, () => fresh().compile(schema));

const ajv = fresh();
ajv.addVocabulary(['openapi', 'info', 'servers', 'security', 'paths', 'components']);
ajv.addSchema({ $id: 'document', ...document[1] });
const at = (pointer) => check(pointer, () => ajv.compile({ $ref: `document#${encodeURI(pointer)}` }));
const walk = (value, pointer, isNamed) => {
  if (value === null || typeof value !== 'object') return;
  for (const [key, inner] of Object.entries(value)) {
    const place = `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (key === 'schema' && !isNamed) at(place);
    else walk(inner, place, key === 'properties');
  }
};
walk(document[1].paths, '/paths', false);
for (const part of ['parameters', 'responses']) walk(document[1].components[part], `/components/${part}`, false);
for (const name of Object.keys(document[1].components.schemas)) at(`/components/schemas/${name}`);
console.log(compiled);
