import type { Model, Route } from '#core/config/catalog/catalog.ts';
import { profileIn } from '#core/config/catalog/profile.ts';
import { principal } from '#core/gateway/facts.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { bounds } from '#core/platform/bounds.ts';
import { isJsonObject, parseObject } from '#core/platform/json.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import { Throttle } from '#core/platform/timing/throttle.ts';
import { deriveOrigin } from '../canonical/opaque-state.ts';
import { isRefusedMember } from '../formats/adaptation/adapt-refused.ts';
import type { ClientRequest } from '../request/client-request.ts';
import { readSession } from '../request/session.ts';
import { type Thread, createThreadNotFoundError, createThreadUnsupportedError } from '../request/thread.ts';

const deadlineMs = 250; // how long a request waits for its thread's state
const warnIntervalMs = 60_000; // time between warnings about a failing store
const threadLimits = { seconds: 86_400, entries: bounds.storedThreads, bytes: bounds.accountThreads };

/**
 * Stores message threads: conversations that Anthropic keeps between turns, so that a request contains only the new messages. An entry is
 * found by the id of an answer, and only for the account that received it. It names the upstream that gave the answer and the session that
 * selects the upstream's key. If no route can continue a thread, the error code makes the SDKs send the whole conversation. Source:
 * Anthropic SDKs, `message-threads-2026-08-12`.
 */
export class ThreadStore {
  readonly #host: Host;
  readonly #warningThrottle = new Throttle(warnIntervalMs);

  constructor(host: Host) {
    this.#host = host;
  }

  /**
   * Adds the thread to a request that starts or continues one.
   *
   * @throws GatewayError `invalid_request` if a route of the model would lose the thread, `not_found` for an unknown thread
   */
  open(exchange: Exchange, request: ClientRequest, model: Model): ClientRequest | Promise<ClientRequest> {
    const { thread } = request.outline;
    if (request.format.name !== 'messages' || thread === undefined || thread === null) return request;
    if (!model.routes.every(supportsThreads)) throw createThreadUnsupportedError();
    const group = `threads:${exchange.find(principal)?.accountId ?? ''}`;
    const previousId = isJsonObject(thread) ? thread['previous_message_id'] : undefined;
    if (typeof previousId !== 'string') {
      const session = readSession(exchange.headers, request.outline) ?? exchange.id;
      return request.with({ thread: this.#createThread(group, session, undefined) });
    }
    return this.#findThread(group, previousId).then(({ session, origin }) =>
      request.with({ thread: this.#createThread(group, session, origin) }),
    );
  }

  #createThread(group: string, session: string, origin: string | undefined): Thread {
    return {
      session,
      origin,
      store: (id, answeringOrigin) => {
        const entry = Buffer.from(JSON.stringify({ session, origin: answeringOrigin }));
        const saving = this.#host.shared.groups.set(group, new Map([[id, entry]]), threadLimits);
        saving.catch((error: unknown) => this.#warn(error));
      },
    };
  }

  async #findThread(group: string, id: string): Promise<{ readonly session: string; readonly origin: string }> {
    const entries = await withDeadline(
      this.#host.shared.groups.get(group, [id]),
      deadlineMs,
      'shared state is slow',
    ).catch((error: unknown) => this.#warn(error));
    const { session, origin } = parseObject(entries?.get(id)?.toString() ?? '') ?? {};
    if (typeof session !== 'string' || typeof origin !== 'string') throw createThreadNotFoundError();
    return { session, origin };
  }

  #warn(error: unknown): undefined {
    const reason = error instanceof Error ? error.message : String(error);
    if (this.#warningThrottle.tryPass()) this.#host.log.warn(`message threads are not continued: ${reason}`);
  }
}

function supportsThreads({ upstream, profile }: Route): boolean {
  const { quirks } = profileIn('messages', profile);
  // Anthropic is recognized by `betas`. No other vendor is known to support threads.
  return upstream.formats.includes('messages') && quirks.betas && !isRefusedMember('thread', quirks);
}

/** Returns true if the last answer in the request's thread came from a different upstream. */
export function hasForeignThread({ thread }: ClientRequest, { upstream }: Route): boolean {
  return thread?.origin !== undefined && thread.origin !== deriveOrigin(upstream);
}
