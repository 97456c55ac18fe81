import type { JsonObject, JsonValue } from '#core/json.ts';
import { maybeObject } from './read.ts';

/** What OpenAI takes; a request with more is refused. */
const maxMembers = 16;
const maxNameLength = 64;
const maxValueLength = 512;

/**
 * Reads what a client of OpenAI's formats files a request under. Empty, it is none.
 *
 * @throws GatewayError `invalid_request`
 */
export function readMetadata(value: JsonValue | undefined): JsonObject | undefined {
  const metadata = maybeObject(value, 'metadata');
  return metadata === undefined || Object.keys(metadata).length === 0 ? undefined : metadata;
}

/** True for what every upstream with such a member takes. Proxies let their clients put other things there. */
export function isPlainMetadata(metadata: JsonObject): boolean {
  const entries = Object.entries(metadata);
  return (
    entries.length <= maxMembers &&
    entries.every(
      ([name, value]) => name.length <= maxNameLength && typeof value === 'string' && value.length <= maxValueLength,
    )
  );
}
