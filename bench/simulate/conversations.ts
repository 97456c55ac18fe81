import type { Model, Route } from '#core/config/catalog/catalog.ts';
import { adapter, principal } from '#core/gateway/facts.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { KeyPool } from '../../plugins/upstream/routing/key-pool.ts';
import { orderRoutes } from '../../plugins/upstream/routing/route-order.ts';
import { CallSessions } from '../../plugins/upstream/routing/sessions.ts';
import type { Clock } from './clock.ts';

const meanAnswerMs = 3_000;
const meanThinkingMs = 5_000;
const turns = 20;

interface Knowledge {
  readonly sessions: CallSessions;
  readonly pools: ReadonlyMap<Route, KeyPool>;
}

/** Clients name no session. Each turn goes to any instance. */
export class Conversations {
  readonly #clock: Clock;
  readonly #model: Model;
  readonly #instances: readonly Knowledge[];
  readonly uses = new Map<string, number>(); // turns, by route and key
  total = 0;
  moved = 0; // turns that used a different key than the first of their conversation

  constructor(clock: Clock, instances: number, routes: readonly Route[]) {
    this.#clock = clock;
    this.#model = { id: 'model', routes } as unknown as Model;
    this.#instances = Array.from({ length: instances }, () => ({
      sessions: new CallSessions({ secret: () => 'secret', monotonic: () => clock.now }),
      pools: new Map(routes.map((route) => [route, new KeyPool(route.upstream)])),
    }));
  }

  async run(account: string, opening: string): Promise<void> {
    let first: string | undefined;
    for (let turn = 0; turn < 1 + Math.random() * turns; turn++) {
      const key = await this.#ask(account, opening);
      first ??= key;
      this.total++;
      this.uses.set(key, (this.uses.get(key) ?? 0) + 1);
      if (key !== first) this.moved++;
      await this.#clock.wait(-Math.log(1 - Math.random()) * meanThinkingMs);
    }
  }

  async #ask(account: string, opening: string): Promise<string> {
    const { sessions, pools } = this.#instances[Math.floor(Math.random() * this.#instances.length)] as Knowledge;
    const facts = new Map<unknown, unknown>([
      [adapter, { model: this.#model, opening, isConversation: true }],
      [principal, { accountId: account }],
    ]);
    const exchange = { get: (fact: unknown) => facts.get(fact), find: (fact: unknown) => facts.get(fact) };
    const seat = sessions.createLease(exchange as unknown as Exchange);
    const [route] = seat?.order ?? orderRoutes(this.#model.routes, undefined);
    if (route === undefined) throw new Error('the model has no route');
    const key = (pools.get(route) as KeyPool).pickKey(this.#clock.now, route.model, seat?.session);
    seat?.acquire();
    await this.#clock.wait(Math.random() * 2 * meanAnswerMs);
    seat?.recordPlace(route, key, { isFinished: true });
    seat?.release();
    return key;
  }
}
