import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { explainErrors, parsePointer } from '#core/config/file/explain.ts';
import type { JsonSchema } from '#core/platform/schema.ts';
import { isDay, isInstant } from '#core/platform/timing/time-zone.ts';
import { formatMistake } from './query.ts';

const maxDescribedMistakes = 5;

const ajv = new Ajv({
  allErrors: true,
  verbose: true,
  strict: false,
  formats: { date: isDay, 'date-time': isInstant, email: true },
});
const validators = new WeakMap<JsonSchema, ValidateFunction>();

/** Describes mistakes in an action's input as sentences, the way mistakes in gateway.yaml are described; undefined if there are none. */
export function describeMistakes(schema: JsonSchema, input: object): string | undefined {
  const validate = validators.get(schema) ?? ajv.compile(schema);
  validators.set(schema, validate);
  if (validate(input)) return describeControlCharacters(schema, input);
  const errors = validate.errors ?? [];
  // One mistake per member is enough: an empty text, for example, also violates its pattern.
  const byName = new Map(
    explainErrors(errors)
      .toReversed()
      .map((mistake) => [mistake.path.join('.'), mistake]),
  );
  const uniqueMistakes = [...byName].toReversed();
  const sentences = uniqueMistakes
    .slice(0, maxDescribedMistakes)
    .map(([name, { wrong, right }]) =>
      formatMistake(name, wrong, `${right}${describeAllowedValues(right, name, errors)}`),
    );
  const omitted = uniqueMistakes.length - sentences.length;
  if (omitted > 0) sentences.push(`${omitted} more ${omitted === 1 ? 'mistake' : 'mistakes'} in the input.`);
  return sentences.join(' ');
}

function describeControlCharacters({ properties }: JsonSchema, input: object): string | undefined {
  for (const [name, value] of Object.entries(input)) {
    const text = properties?.[name]?.isMultiline === true ? String(value).replace(/[\t\n\r]/g, '') : value;
    // A terminal or a table would interpret control characters.
    if (typeof text === 'string' && /\p{Cc}/u.test(text))
      return formatMistake(name, 'has control characters', 'leave them out');
  }
  return undefined;
}

function describeAllowedValues(right: string, name: string, errors: readonly ErrorObject[]): string {
  // The validator suggests only the most similar value.
  if (!right.endsWith('?')) return '';
  const error = errors.find(
    ({ keyword, instancePath }) => keyword === 'enum' && parsePointer(instancePath).join('.') === name,
  );
  return error === undefined ? '' : ` Allowed: ${(error.schema as unknown[]).join(', ')}.`;
}
