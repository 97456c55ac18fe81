import type { JsonObject, JsonValue } from '#core/json.ts';
import { maybeObject } from './read.ts';

/** OpenAI's limits; it refuses a request over them. */
const maxMembers = 16;
const maxNameLength = 64;
const maxValueLength = 512;

/**
 * Reads the metadata of a request; undefined when it is empty.
 *
 * @throws GatewayError `invalid_request`
 */
export function readMetadata(value: JsonValue | undefined): JsonObject | undefined {
  const metadata = maybeObject(value, 'metadata');
  return metadata === undefined || Object.keys(metadata).length === 0 ? undefined : metadata;
}

/** True for metadata that every upstream accepts. Some proxies allow more. */
export function isPlainMetadata(metadata: JsonObject): boolean {
  const entries = Object.entries(metadata);
  return (
    entries.length <= maxMembers &&
    entries.every(
      ([name, value]) => name.length <= maxNameLength && typeof value === 'string' && value.length <= maxValueLength,
    )
  );
}
