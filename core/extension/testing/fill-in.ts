import { Ajv } from 'ajv';
import { explainErrors } from '#core/config/file/explain.ts';
import type { JsonSchema } from '#core/platform/schema.ts';

const ajv = new Ajv({ allErrors: true, useDefaults: true, verbose: true, strict: false });

/**
 * Validates a value from gateway.yaml and fills in defaults, as the loader does.
 *
 * @param name what to call the value in messages
 * @throws Error listing every mistake
 */
export function fillIn(value: unknown, schema: JsonSchema, name: string): unknown {
  const root = { value: structuredClone(value) };
  const validate = ajv.compile({ type: 'object', properties: { value: schema as object } });
  if (validate(root)) return root.value;
  const mistakes = explainErrors(validate.errors ?? []).map(
    ({ path, wrong, right }) => `${[name, ...path.slice(1)].join('.')}: ${wrong}; ${right}`,
  );
  throw new Error(mistakes.join('\n'));
}
