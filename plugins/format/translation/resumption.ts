import { bounds } from '#core/bounds.ts';
import type { ReplyReader, RouteCalls, UpstreamRequest } from '#core/model-call/adapter.ts';
import type { Route } from '#core/catalog/catalog.ts';
import { GatewayError } from '#core/errors/table.ts';
import type { Conversation, Item } from '../canonical/conversation.ts';
import { estimateTokens } from '../canonical/estimate.ts';
import type { ClientRequest } from '../request/client-request.ts';
import { TranslatingReader } from './reader.ts';
import type { Translation, Translator } from './translator.ts';
import { upstreamFormat } from './upstream-format.ts';

/** Fewest tokens that an answer may be limited to; some upstreams refuse less. */
const fewestTokens = 16;

const instruction =
  'Your answer above was cut off by a technical fault. Go on exactly where it stops, in the middle of a word if need be. ' +
  'Write only what comes next: repeat nothing, do not start over, and do not mention the interruption.';

/**
 * True when the answer to a request may be gone on with by another route: one streamed answer of free text, all of which
 * can be read and written anew. What JSON is asked for, one model cannot end for another; and what the codecs leave out
 * of a reply, log probabilities, pictures and tools of the vendor's own, a client that asked for it has to get.
 */
export function isResumable(request: ClientRequest, translator: Translator): boolean {
  if (!request.isStream || request.purpose !== 'answer') return false;
  try {
    const { conversation, notes } = translator.read();
    const { candidates, output, tools } = conversation;
    const isPlain = candidates === 1 && output === undefined && tools.every(({ form }) => form !== 'web_search');
    return (
      isPlain && !notes.entries.some((note) => /^dropped (tool |(top_)?logprobs|generationConfig\.response)/.test(note))
    );
  } catch (error) {
    // A route that speaks the client's format may understand it all the same.
    if (error instanceof GatewayError) return false;
    throw error;
  }
}

/** How to ask routes to go on with an answer; undefined when there is nothing to go on from, or more than text. */
export function resumptionOf(
  broken: ReplyReader,
  request: ClientRequest,
  translator: Translator,
): RouteCalls | undefined {
  if (!(broken instanceof TranslatingReader)) return undefined;
  const sent = broken.plainText;
  if (sent === undefined || sent.trim() === '' || sent.length > bounds.resumedText) return undefined;
  return new Resumption(broken, sent, request, translator);
}

/** Asks routes to go on with an answer, one after the other: they share the state of what the client has seen. */
class Resumption implements RouteCalls {
  readonly #broken: TranslatingReader;
  readonly #sent: string;
  readonly #request: ClientRequest;
  readonly #translator: Translator;
  readonly #ways = new Map<Route, Translation | GatewayError>();

  constructor(broken: TranslatingReader, sent: string, request: ClientRequest, translator: Translator) {
    this.#broken = broken;
    this.#sent = sent;
    this.#request = request;
    this.#translator = translator;
  }

  canServe(route: Route): boolean {
    return !(this.#way(route) instanceof GatewayError);
  }

  encode(route: Route): UpstreamRequest {
    return this.#served(route).request;
  }

  read(route: Route): ReplyReader {
    return this.#served(route).readAfter(this.#broken, this.#sent);
  }

  #served(route: Route): Translation {
    const way = this.#way(route);
    if (way instanceof GatewayError) throw way;
    return way;
  }

  #way(route: Route): Translation | GatewayError {
    const known = this.#ways.get(route);
    if (known !== undefined) return known;
    const way = this.#open(route);
    this.#ways.set(route, way);
    return way;
  }

  #open(route: Route): Translation | GatewayError {
    try {
      const { conversation } = this.#translator.read();
      const format = upstreamFormat(route, this.#request);
      return this.#translator.open(route, format, continued(conversation, this.#sent, route.profile.quirks.prefill));
    } catch (error) {
      if (error instanceof GatewayError) return error;
      throw error;
    }
  }
}

/** The conversation with the answer so far. @param isPrefilled the model goes on from that by itself */
function continued(conversation: Conversation, sent: string, isPrefilled: boolean): Conversation {
  const { items, maxOutputTokens } = conversation;
  const answer: Item = { type: 'message', role: 'assistant', parts: [{ type: 'text', text: sent }] };
  const request: Item = { type: 'message', role: 'user', parts: [{ type: 'text', text: instruction }] };
  return {
    ...conversation,
    items: [...items, answer, ...(isPrefilled ? [] : [request])],
    maxOutputTokens: maxOutputTokens && Math.max(fewestTokens, maxOutputTokens - estimateTokens(sent.length)),
  };
}
