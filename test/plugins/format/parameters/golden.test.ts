import { expect, it } from 'vitest';
import { mergeProfiles, type ProfileSettings } from '#core/config/catalog/profile.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { Conversation } from '../../../../plugins/format/canonical/conversation.ts';
import { Notes } from '../../../../plugins/format/canonical/notes.ts';
import { commonNameRules, ToolNames } from '../../../../plugins/format/canonical/tool-names.ts';
import { checkParameters } from '../../../../plugins/format/formats/contract/parameters.ts';
import { encodeForRoute } from '../../../../plugins/format/routes/translation/encode-for-route.ts';
import {
  conversational,
  type TextFormat,
  textFormats,
  translatable,
  type UpstreamTextFormat,
} from '../../../support/formats.ts';
import { bodyWith, meaningful, ofEveryKind, plainBodies } from './bodies.ts';

/*
 * The files beside this one say what clients get for each parameter: refusals with their words, notes, and what each upstream is sent.
 * `npm test -- test/plugins/format/parameters -u` takes what the product says now; the diff is for the eyes.
 */

/** The JSON of a value, with members in the order of their names. */
const sorted = (value: JsonValue | undefined): string =>
  JSON.stringify(value, (_, inner: JsonValue) =>
    isJsonObject(inner) ? Object.fromEntries(Object.entries(inner).toSorted()) : inner,
  ) ?? 'undefined';

const short = (value: JsonValue | undefined): string => {
  const text = sorted(value);
  return text.length <= 70 ? text : `${text.slice(0, 30)}…${text.length}`;
};

/** How a request fares until a route is asked: which step refuses it and how, or what is noted. */
function outcome(format: TextFormat, body: JsonObject): string {
  const { client } = conversational[format];
  const notes = new Notes();
  let step = 'refused';
  try {
    checkParameters(body, client.parameters, []);
    step = 'refused when translated';
    client.text.decodeRequest(body, notes);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return `${step}: ${error.code}, ${String(error.details.param)}: ${error.message}`;
  }
  return notes.entries.length === 0 ? 'accepted' : `accepted: ${notes.entries.join('; ')}`;
}

/** The members of a body that a setting adds or changes, and the notes that it adds. */
function encoded(format: TextFormat, body: JsonObject, to: UpstreamTextFormat, settings: ProfileSettings) {
  const notes = new Notes();
  const conversation: Conversation = conversational[format].client.text.decodeRequest(body, notes);
  const names = new ToolNames(conversation, commonNameRules);
  const target = { model: 'there', profile: mergeProfiles(settings), isStream: false, names, notes };
  const written = encodeForRoute(translatable[to], conversation, target, '0a1b2c3d');
  return { written: JSON.parse(JSON.stringify(written)) as JsonObject, notes: notes.entries };
}

function difference(format: TextFormat, body: JsonObject, to: UpstreamTextFormat, settings: ProfileSettings): string {
  try {
    const plain = encoded(format, plainBodies[format], to, settings);
    const { written, notes } = encoded(format, body, to, settings);
    const names = [...new Set([...Object.keys(plain.written), ...Object.keys(written)])].toSorted();
    const changed = names.filter((name) => sorted(plain.written[name]) !== sorted(written[name]));
    const added = notes.filter((note) => !plain.notes.includes(note)).toSorted();
    return [...changed.map((name) => `${name} ${short(written[name])}`), ...added].join('; ');
  } catch (error) {
    if (error instanceof GatewayError)
      return `refused: ${error.code}, ${String(error.details.param)}: ${error.message}`;
    throw error;
  }
}

/** Entries with the same words on one line. */
function grouped(entries: readonly (readonly [string, string])[]): string[] {
  return [...Map.groupBy(entries, ([, said]) => said)].map(
    ([said, same]) => `  ${same.map(([of]) => of).join('  ')}\n      ${said}`,
  );
}

it.each(textFormats)('parameters of every kind are accepted or refused as they were, in %s', async (format) => {
  const lines = Object.entries(meaningful[format]).flatMap(([path, values]) => {
    const tried = [...values, ...ofEveryKind].map(
      (value) => [short(value), outcome(format, bodyWith(format, path, value))] as const,
    );
    return [path, ...grouped(tried)];
  });
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(`files/${format}-read.txt`);
});

/** A route that has nothing of its own, and one that has what OpenAI and Anthropic have. */
const routes: Readonly<Record<string, ProfileSettings>> = {
  plain: {},
  rich: {
    capabilities: { reasoning: true, structured_output: 'schema', images: true, tools: true },
    quirks: { betas: true, freeform_tools: true, stop: 4, cache_retention: ['24h'] },
  },
};

it.each(textFormats)('parameters reach every upstream as they did, from %s', async (format) => {
  const lines = Object.entries(meaningful[format]).flatMap(([path, values]) =>
    values.flatMap((value) => {
      const body = bodyWith(format, path, value);
      const reached = Object.keys(translatable).flatMap((to) =>
        Object.entries(routes).map(
          ([route, settings]) =>
            [`${to} ${route}`, difference(format, body, to as UpstreamTextFormat, settings)] as const,
        ),
      );
      return [`${path} ${short(value)}`, ...grouped(reached.filter(([, said]) => said !== ''))];
    }),
  );
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(`files/${format}-written.txt`);
});
