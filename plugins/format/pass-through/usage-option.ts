import type { Profile } from '#core/catalog/profile.ts';
import { isJsonObject, type JsonObject } from '#core/json.ts';
import { isRefused } from './adapt-refused.ts';
import type { InsertedMember, TextFormat } from '../descriptor.ts';

/** What a streamed request lacks to be counted: the record needs the counts, the client sees them when it has asked itself. */
export function missingUsageOption(
  { text }: TextFormat,
  body: JsonObject,
  { quirks }: Profile,
): InsertedMember | undefined {
  const { usageOption } = text;
  if (usageOption === undefined || !quirks.stream_usage || isJsonObject(body[usageOption.name])) return undefined;
  if (isRefused(usageOption.name, quirks)) return undefined;
  return usageOption;
}
