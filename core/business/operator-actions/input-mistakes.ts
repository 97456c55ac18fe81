import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { explainErrors, parsePointer } from '#core/config/file/explain.ts';
import type { JsonSchema } from '#core/platform/schema.ts';
import { isDay, isInstant } from '#core/platform/timing/time-zone.ts';
import { sentenceOf } from './query.ts';

const maxDescribed = 5;

const ajv = new Ajv({
  allErrors: true,
  verbose: true,
  strict: false,
  formats: { date: isDay, 'date-time': isInstant, email: true },
});
const validators = new WeakMap<JsonSchema, ValidateFunction>();

/**
 * Describes mistakes in the input of an action, in the words of gateway.yaml's mistakes.
 *
 * @returns sentences; undefined for a valid input
 */
export function describeMistakes(schema: JsonSchema, input: object): string | undefined {
  const validate = validators.get(schema) ?? ajv.compile(schema);
  validators.set(schema, validate);
  if (validate(input)) return describeControl(schema, input);
  const errors = validate.errors ?? [];
  // An empty text also misses its pattern: one mistake per member is enough.
  const byName = new Map(
    explainErrors(errors)
      .toReversed()
      .map((mistake) => [mistake.path.join('.'), mistake]),
  );
  const explained = [...byName].toReversed();
  const sentences = explained
    .slice(0, maxDescribed)
    .map(([name, { wrong, right }]) => sentenceOf(name, wrong, `${right}${otherAllowed(right, name, errors)}`));
  const more = explained.length - sentences.length;
  return [
    ...sentences,
    ...(more > 0 ? [`${more} more ${more === 1 ? 'mistake' : 'mistakes'} in the input.`] : []),
  ].join(' ');
}

/** Rejects control characters, which a terminal or a table would interpret. */
function describeControl({ properties }: JsonSchema, input: object): string | undefined {
  for (const [name, value] of Object.entries(input)) {
    const text = properties?.[name]?.isMultiline === true ? String(value).replace(/[\t\n\r]/g, '') : value;
    if (typeof text === 'string' && /\p{Cc}/u.test(text))
      return sentenceOf(name, 'has control characters', 'leave them out');
  }
  return undefined;
}

/** The allowed values, if the validator names only the most similar one. */
function otherAllowed(right: string, name: string, errors: readonly ErrorObject[]): string {
  if (!right.endsWith('?')) return '';
  const error = errors.find(
    ({ keyword, instancePath }) => keyword === 'enum' && parsePointer(instancePath).join('.') === name,
  );
  return error === undefined ? '' : ` Allowed: ${(error.schema as unknown[]).join(', ')}.`;
}
