import type { Upstream } from '#core/config/catalog/catalog.ts';
import type { Profile } from '#core/config/catalog/profile.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { type JsonObject, isJsonObject } from '#core/platform/json.ts';
import type { EncodeTarget } from '../../canonical/codec.ts';
import type { Conversation, OpaqueState } from '../../canonical/conversation.ts';
import type { Notes } from '../../canonical/notes.ts';
import { isClientTool } from '../../canonical/tool-names.ts';
import { forcedSearch } from '../../canonical/tools.ts';
import type { AdaptationTarget } from '../../formats/contract/adaptation.ts';
import { withoutAccountChoices } from '../../formats/adaptation/account-choices.ts';
import { isolateCache } from '../../formats/adaptation/isolate-cache.ts';
import { isRefused } from '../../formats/adaptation/adapt-refused.ts';
import type { TextFormat, InsertedMember } from '../../formats/contract/descriptor.ts';

/**
 * The body that a route gets for a conversation: encoded in its format, then adapted to it like the body of a client.
 *
 * @param origin of the upstream, see opaque-state.ts
 * @param target with the mark of an account whose prompt cache is its own
 * @param upstream says what customers may choose there
 * @throws GatewayError `not_supported`
 */
export function encodeForRoute(
  format: TextFormat,
  conversation: Conversation,
  target: Omit<EncodeTarget, 'ownState'> &
    Pick<AdaptationTarget, 'endUser'> & { readonly cacheMark?: string | undefined },
  origin: string,
  upstream: Pick<Upstream, 'customerChoices'> = {},
): JsonObject {
  const { text } = format;
  // Several formats can request more answers, but a translated reply has room for one.
  if (conversation.candidates > 1) {
    throw new GatewayError(
      'not_supported',
      'This model returns one answer per request: `n`, or `candidateCount`, must be 1.',
      { param: 'n' },
    );
  }
  const encoded = text.encodeRequest(conversation, {
    ...target,
    ownState: ownStateFor(format, origin),
  });
  refuseLostTools(conversation, target.notes);
  const { profile, notes, endUser } = target;
  const allowed = withoutAccountChoices(text.adapt(encoded, { profile, notes, origin, endUser }), upstream, notes);
  const adapted = isolateCache(allowed, format.name, target.cacheMark, target);
  const usage = target.isStream ? missingUsageOption(format, adapted, target.profile) : undefined;
  return inCacheOrder(usage === undefined ? adapted : { ...adapted, [usage.name]: usage.value });
}

const stableMembers = ['anthropic_version', 'model', 'tools', 'system', 'instructions', 'systemInstruction'];
const dialogues: ReadonlySet<string> = new Set(['messages', 'input', 'contents']);

/**
 * The members in one order: tools and instructions, which stay the same from turn to turn, first, and the dialogue, which grows,
 * last. Some caches compare bodies byte by byte: with the dialogue before the tools, a turn shares nothing with the next.
 * Source: bifrost#6406, Claude on Vertex AI; openclaw#78747.
 */
function inCacheOrder(body: JsonObject): JsonObject {
  const ordered: JsonObject = {};
  const put = (name: string) => {
    if (body[name] !== undefined) ordered[name] = body[name];
  };
  stableMembers.forEach(put);
  const others = Object.keys(body).filter((name) => !stableMembers.includes(name));
  others.filter((name) => !dialogues.has(name)).forEach(put);
  others.filter((name) => dialogues.has(name)).forEach(put);
  return ordered;
}

/** Finds the data of the states that an upstream has made and takes back in a format; undefined for any other state. */
export function ownStateFor({ text }: TextFormat, origin: string): EncodeTarget['ownState'] {
  return (state: OpaqueState | undefined) =>
    state?.origin === origin && text.stateKinds.includes(state.kind) ? state.data : undefined;
}

/** Notes on tools that only their vendor can run. */
const lostTool = /^dropped (web_search$|tool (?!call ))/;

/** A model without the only tool, or the required one, would invent the tool's results. */
function refuseLostTools({ tools }: Conversation, notes: Notes): void {
  const lost = notes.entries.filter((note) => lostTool.test(note)).map((note) => note.replace(/^dropped (tool )?/, ''));
  const [type] = tools.length === 0 ? lost : lost.filter((name) => name === 'web_search');
  const isNeeded = !tools.some(isClientTool) || notes.entries.includes(`approximated ${forcedSearch}`);
  if (type === undefined || !isNeeded) return;
  throw new GatewayError('not_supported', `Tools of type "${type}" are not supported by this model.`, {
    param: 'tools',
  });
}

/** The member that makes an upstream count tokens of a stream: the record needs them; clients see them only if they asked. */
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
