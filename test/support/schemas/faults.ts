import { Ajv } from 'ajv';

const ajv = new Ajv({ strict: false });

export function faults(schema: object, value: unknown): string | undefined {
  const validate = ajv.compile(schema);
  return validate(value) ? undefined : `${ajv.errorsText(validate.errors)} in ${JSON.stringify(value)}`;
}
