import { isatty } from 'node:tty';

const stopSignals: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGPWR', 'SIGXCPU'];

/**
 * Signals that would end the process without letting requests finish. SIGUSR1 would open Node's inspector, which exposes the vendors' keys
 * to any process of this user. With SIGXFSZ ignored, a write beyond the file size limit fails as it does on a full disk.
 */
const ignoredSignals: readonly NodeJS.Signals[] = [
  'SIGUSR1',
  'SIGUSR2',
  'SIGALRM',
  'SIGVTALRM',
  'SIGIO',
  'SIGSTKFLT',
  'SIGXFSZ',
];

const minSignalGapMs = 2_000; // `timeout`, npm and shells may send a signal more than once

/** Why a process ends: a signal, a successor, or the loss of its supervisor. */
export type StopCause = NodeJS.Signals | 'replaced' | 'supervisor lost';

/** An order from a supervisor to a worker, which receives no signals itself. */
export type StopOrder = StopCause | 'hurry' | 'end';

interface SignalSource {
  on(name: NodeJS.Signals, listener: (name: NodeJS.Signals) => void): unknown;
}

interface StopSignalsOptions {
  readonly source?: SignalSource;
  readonly now?: () => number; // ms
  readonly isTerminal?: boolean; // true if SIGINT means Ctrl-C
  readonly exit?: () => void;
}

/** Keeps Node's inspector closed in commands other than `start`. All other signals keep their default effect. */
export function disableInspector(source: SignalSource = process): void {
  source.on('SIGUSR1', () => undefined);
}

/**
 * Handles stop signals. The first one stops the gateway gracefully: it fails `/readyz` for the notice period, then finishes requests. The
 * second one, or Ctrl-C on a terminal, skips the notice period. The third one ends the process immediately.
 *
 * Must be created before other modules are loaded, and imports none of them, because an unhandled signal would end the process.
 */
export class StopSignals {
  readonly first: Promise<StopCause | Error>; // the first signal, or the error that stops the gateway
  readonly hurry: AbortSignal; // aborts to skip the notice period
  readonly third: Promise<void>; // resolves at the third signal
  readonly #first = Promise.withResolvers<StopCause | Error>();
  readonly #third = Promise.withResolvers<void>();
  readonly #hurry = new AbortController();
  readonly #options: Required<StopSignalsOptions>;
  #canExitAtOnce = true;
  #signalCount = 0;
  #countedAt = Number.NEGATIVE_INFINITY;
  #isReloadPending = false;
  #reload: (() => void) | undefined;

  constructor({
    source = process,
    now = () => performance.now(),
    isTerminal = isatty(0) || isatty(2),
    exit = () => process.exit(0),
  }: StopSignalsOptions = {}) {
    this.#options = { source, now, isTerminal, exit };
    this.first = this.#first.promise;
    this.third = this.#third.promise;
    this.hurry = this.#hurry.signal;
    for (const name of stopSignals) source.on(name, () => this.#stop(name));
    for (const name of ignoredSignals) source.on(name, () => undefined);
    source.on('SIGHUP', () => this.#requestReload());
  }

  /** Handles signals from now on. Until this is called, a stop signal ends the process immediately, because there is nothing to close. */
  startHandling(): void {
    this.#canExitAtOnce = false;
  }

  fail(error: Error): void {
    this.#first.resolve(error);
  }

  followOrder(order: StopOrder): void {
    if (order === 'hurry') this.#hurry.abort();
    else if (order === 'end') this.#third.resolve();
    else this.#first.resolve(order);
  }

  /** Calls `reload` at every SIGHUP, and right away if one has already arrived. */
  onReload(reload: () => void): void {
    this.#reload = reload;
    if (this.#isReloadPending) reload();
  }

  #stop(name: NodeJS.Signals): void {
    const { now, isTerminal, exit } = this.#options;
    if (this.#canExitAtOnce) return exit();
    if (now() - this.#countedAt < minSignalGapMs) return;
    this.#countedAt = now();
    this.#signalCount++;
    if (this.#signalCount > 1 || (name === 'SIGINT' && isTerminal)) this.#hurry.abort();
    if (this.#signalCount === 1) this.#first.resolve(name);
    if (this.#signalCount === 3) this.#third.resolve();
  }

  #requestReload(): void {
    if (this.#reload === undefined) this.#isReloadPending = true;
    else this.#reload();
  }
}
