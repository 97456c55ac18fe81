import { SseFramer } from '#core/gateway/model-call/sse-framer.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { GrammarGuard } from '../../../../plugins/format/canonical/guard.ts';
import { tagState } from '../../../../plugins/format/canonical/opaque-state.ts';
import { commonNameRules, ToolNames } from '../../../../plugins/format/canonical/tool-names.ts';
import { TranslatingReader } from '../../../../plugins/format/routes/translation/reader.ts';
import { conversational } from '../../../support/formats.ts';
import { context } from '../invariants/fixture.ts';
import { bytesOf, framedAnswer, framedStream } from './frame-answer.ts';
import type { Probe } from './published.ts';
import type { ClientFormatName } from './routes.ts';

/** From an upstream of one format to a client of another. */
export interface Passage {
  readonly upstream: ClientFormatName;
  readonly client: ClientFormatName;
  readonly isStream: boolean;
}

/** What becomes of an answer. */
interface Fate {
  /** Undefined where it ends with an error. */
  readonly written: string | undefined;
  readonly failure?: string;
  readonly notes: readonly string[];
}

/** What becomes of a member of an answer. */
export type AnswerReceipt = 'arrives' | 'noted' | 'silent';

const fates = new Map<string, Fate>();

/** The answer of an upstream as a client of another format gets it. */
function fateOf({ upstream, client, isStream }: Passage, members: JsonObject): Fate {
  const body = isStream
    ? bytesOf(framedStream(upstream, members).all, upstream)
    : Buffer.from(JSON.stringify(framedAnswer(upstream, members)));
  const key = `${upstream} ${client} ${body.toString()}`;
  const known = fates.get(key) ?? translate(readerBetween(upstream, client), body, isStream);
  fates.set(key, known);
  return known;
}

function translate(reader: TranslatingReader, body: Buffer, isStream: boolean): Fate {
  try {
    const written = isStream
      ? Buffer.concat([reader.push(body), reader.end()]).toString()
      : reader.whole(body).body.toString();
    return { written, ...(reader.failure && { failure: reader.failure.message }), notes: reader.notes };
  } catch (error) {
    if (error instanceof GatewayError) return { written: undefined, failure: error.message, notes: reader.notes };
    throw error;
  }
}

function readerBetween(upstream: ClientFormatName, client: ClientFormatName): TranslatingReader {
  const { text } = conversational[client].client;
  const guard = new GrammarGuard({
    toolNames: new ToolNames({ tools: [], items: [] }, commonNameRules),
    tagState: (kind, data) => tagState({ kind, origin: '0a1b2c3d', data }),
    exchangeId: 'x1',
    estimateInputTokens: () => 25,
    rules: text,
  });
  const reply = { decoder: conversational[upstream].text.createDecoder(), framer: new SseFramer() };
  return new TranslatingReader(reply, guard, text.createEncoder(context));
}

/** What becomes of a member of an answer, or of an event of one. */
export function receiptOfAnswer(passage: Passage, probe: Probe): AnswerReceipt {
  const fate = fateOf(passage, probe.value);
  const before = fateOf(passage, probe.without);
  if (fate.written !== before.written || fate.failure !== before.failure) return 'arrives';
  return fate.notes.length > 0 || before.notes.length > 0 ? 'noted' : 'silent';
}
