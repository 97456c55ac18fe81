import { Ajv } from 'ajv';
import { explainErrors } from '#core/config/file/explain.ts';
import type { JsonSchema } from '#core/platform/schema.ts';

const ajv = new Ajv({ allErrors: true, useDefaults: true, verbose: true, strict: false });

/**
 * Validates a value of gateway.yaml and fills defaults in, as the loader does.
 *
 * @param name of the value, for messages
 * @throws Error with every mistake
 */
export function fillIn(value: unknown, schema: JsonSchema, name: string): unknown {
  const box = { value: structuredClone(value) };
  const check = ajv.compile({ type: 'object', properties: { value: schema as object } });
  if (check(box)) return box.value;
  const mistakes = explainErrors(check.errors ?? []).map(
    ({ path, wrong, right }) => `${[name, ...path.slice(1)].join('.')}: ${wrong}; ${right}`,
  );
  throw new Error(mistakes.join('\n'));
}
