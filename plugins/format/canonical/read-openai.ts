import type { JsonObject, JsonValue } from '#core/json.ts';
import type { OutputFormat, Sampling } from './conversation.ts';
import { invalid, maybeBoolean, maybeNumber, maybeObject, maybeText, readObject, readText } from './read.ts';

/**
 * Reads the output format of OpenAI's formats. Source: OpenAI docs, "Structured model outputs".
 *
 * @param schemaName the member that holds the JSON Schema format, where the format nests it
 * @throws GatewayError `invalid_request`
 */
export function readOutputFormat(
  value: JsonValue | undefined,
  path: string,
  schemaName?: string,
): OutputFormat | undefined {
  const format = maybeObject(value, path);
  if (format === undefined) return undefined;
  const type = readText(format['type'], `${path}.type`);
  if (type === 'text') return undefined;
  if (type === 'json_object') return { type };
  if (type !== 'json_schema') throw invalid(`${path}.type`, 'text, json_object or json_schema');
  const isNested = schemaName !== undefined;
  const at = isNested ? `${path}.${schemaName}` : path;
  const wanted = isNested ? readObject(format[schemaName], at) : format;
  return {
    type,
    name: maybeText(wanted['name'], `${at}.name`),
    description: maybeText(wanted['description'], `${at}.description`),
    // Chat allows a format without a schema.
    schema: isNested
      ? (maybeObject(wanted['schema'], `${at}.schema`) ?? {})
      : readObject(wanted['schema'], `${at}.schema`),
    strict: maybeBoolean(wanted['strict'], `${at}.strict`),
  };
}

/** Reads the sampling parameters that OpenAI's formats share. @throws GatewayError `invalid_request` */
export function readSampling(body: JsonObject): Sampling {
  return {
    temperature: maybeNumber(body['temperature'], 'temperature', 0, 2),
    topP: maybeNumber(body['top_p'], 'top_p', 0, 1),
    presencePenalty: maybeNumber(body['presence_penalty'], 'presence_penalty', -2, 2),
    frequencyPenalty: maybeNumber(body['frequency_penalty'], 'frequency_penalty', -2, 2),
  };
}
