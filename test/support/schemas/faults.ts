import { Ajv } from 'ajv';

const ajv = new Ajv({ strict: false });

/** The violations of a schema by a value; undefined when there are none. */
export function faults(schema: object, value: unknown): string | undefined {
  const validate = ajv.compile(schema);
  return validate(value) ? undefined : `${ajv.errorsText(validate.errors)} in ${JSON.stringify(value)}`;
}
