import type { Upstream } from '#core/config/catalog/catalog.ts';
import type { Profile } from '#core/config/catalog/profile.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { type JsonObject, isJsonObject } from '#core/platform/json.ts';
import type { EncodeTarget } from '../../canonical/codec.ts';
import type { Conversation } from '../../canonical/conversation.ts';
import type { Notes } from '../../canonical/notes.ts';
import { createStateLookup } from '../../canonical/opaque-state.ts';
import { isClientTool } from '../../canonical/tool-names.ts';
import { droppedToolNote, forcedSearchNote } from '../../canonical/tools.ts';
import { removeAccountChoices } from '../../formats/adaptation/account-choices.ts';
import { isRefusedMember } from '../../formats/adaptation/adapt-refused.ts';
import { isolateCache } from '../../formats/adaptation/isolate-cache.ts';
import type { AdaptationTarget } from '../../formats/contract/adaptation.ts';
import type { TextFormat, InsertedMember } from '../../formats/contract/descriptor.ts';

/**
 * Encodes a conversation in a route's format, then adapts the body to the route as if a client had sent it.
 *
 * @throws GatewayError `not_supported`
 */
export function encodeForRoute(
  format: TextFormat,
  conversation: Conversation,
  target: Omit<EncodeTarget, 'findAcceptedState'> &
    Pick<AdaptationTarget, 'endUser'> & { readonly cacheMark?: string | undefined },
  origin: string,
  upstream: Pick<Upstream, 'customerChoices'> = {},
): JsonObject {
  const { text } = format;
  // Some formats can request more than one answer, but a translated reply holds only one.
  if (conversation.candidates > 1) {
    throw new GatewayError(
      'not_supported',
      'This model returns one answer per request: `n`, or `candidateCount`, must be 1.',
      { param: 'n' },
    );
  }
  const encodedBody = text.encodeRequest(conversation, {
    ...target,
    findAcceptedState: createStateLookup(text, origin),
  });
  refuseLostTools(conversation, target.notes);
  const { profile, notes, endUser } = target;
  const allowedBody = removeAccountChoices(
    text.adapt(encodedBody, { profile, notes, origin, endUser }),
    upstream,
    notes,
  );
  const adaptedBody = isolateCache(allowedBody, format.name, target.cacheMark, target);
  const usage = target.isStream ? findMissingUsageOption(format, adaptedBody, target.profile) : undefined;
  return orderForCaching(usage === undefined ? adaptedBody : { ...adaptedBody, [usage.name]: usage.value });
}

const stableMembers = ['anthropic_version', 'model', 'tools', 'system', 'instructions', 'systemInstruction'];
const dialogueMembers: ReadonlySet<string> = new Set(['messages', 'input', 'contents']);

/**
 * Orders the members: tools and instructions, which do not change from turn to turn, come first, and the growing dialogue comes last. Some
 * caches compare bodies byte by byte, so with the dialogue before the tools, consecutive turns would share no prefix. Source: bifrost#6406,
 * Claude on Vertex AI; openclaw#78747.
 */
function orderForCaching(body: JsonObject): JsonObject {
  const ordered: JsonObject = {};
  const copyMember = (name: string) => {
    if (body[name] !== undefined) ordered[name] = body[name];
  };
  stableMembers.forEach(copyMember);
  const otherNames = Object.keys(body).filter((name) => !stableMembers.includes(name));
  otherNames.filter((name) => !dialogueMembers.has(name)).forEach(copyMember);
  otherNames.filter((name) => dialogueMembers.has(name)).forEach(copyMember);
  return ordered;
}

/** Refuses a request that has lost its only tool or a required one, because the model would invent the tool's results. */
function refuseLostTools({ tools }: Conversation, notes: Notes): void {
  const lostNotes = notes.entries.filter((note) => droppedToolNote.test(note));
  const lostTypes = lostNotes.map((note) => note.replace(/^dropped (tool )?/, ''));
  const [type] = tools.length === 0 ? lostTypes : lostTypes.filter((name) => name === 'web_search');
  const isNeeded = !tools.some(isClientTool) || notes.entries.includes(`approximated ${forcedSearchNote}`);
  if (type === undefined || !isNeeded) return;
  throw new GatewayError('not_supported', `Tools of type "${type}" are not supported by this model.`, {
    param: 'tools',
  });
}

/** Returns the member that makes an upstream report a stream's usage, for accounting. Clients only get the usage if they asked for it. */
export function findMissingUsageOption(
  { text }: TextFormat,
  body: JsonObject,
  { quirks }: Profile,
): InsertedMember | undefined {
  const { usageOption } = text;
  if (usageOption === undefined || !quirks.stream_usage || isJsonObject(body[usageOption.name])) return undefined;
  if (isRefusedMember(usageOption.name, quirks)) return undefined;
  return usageOption;
}
