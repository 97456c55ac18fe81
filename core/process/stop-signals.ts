import { isatty } from 'node:tty';

const stopping: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGPWR', 'SIGXCPU'];

/**
 * Signals without a meaning here that would end the process without a drain. SIGUSR1 would open Node's inspector, and so the
 * vendors' keys, to any process of this user; with SIGXFSZ ignored, an oversized write fails as on a full disk.
 */
const ignored: readonly NodeJS.Signals[] = [
  'SIGUSR1',
  'SIGUSR2',
  'SIGALRM',
  'SIGVTALRM',
  'SIGIO',
  'SIGSTKFLT',
  'SIGXFSZ',
];

/** Signals this close count as one: `timeout`, npm and shells send a signal more than once. */
const sameSignalMs = 2_000;

/** Cause of a serving process's end: a signal, or the loss of its supervisor or its place. */
export type StopCause = NodeJS.Signals | 'replaced' | 'supervisor lost';

/** Messages from a supervisor to a worker, which receives no signals and so cannot count them. */
export type StopOrder = StopCause | 'hurry' | 'end';

interface SignalSource {
  on(name: NodeJS.Signals, listener: (name: NodeJS.Signals) => void): unknown;
}

interface StopSignalsOptions {
  readonly source?: SignalSource;
  readonly now?: () => number; // ms
  readonly isTerminal?: boolean; // a person presses Ctrl-C
  readonly exit?: () => void;
}

/** Keeps Node's inspector closed in commands other than `start`, which signals end as usual. */
export function disableInspector(source: SignalSource = process): void {
  source.on('SIGUSR1', () => undefined);
}

/**
 * Effects of signals on a gateway. The first one lets it stop: failing `/readyz` for the notice period, then finishing requests.
 * The second one, or Ctrl-C on a terminal, skips the notice period. The third one ends it at once.
 *
 * Created before any module is loaded, because a signal would otherwise end the process. It has no imports for the same reason.
 */
export class StopSignals {
  /** The first signal, or the error that stops the gateway. */
  readonly first: Promise<StopCause | Error>;
  /** Aborts to skip the notice period. */
  readonly hurry: AbortSignal;
  /** The third signal. */
  readonly third: Promise<void>;
  readonly #first = Promise.withResolvers<StopCause | Error>();
  readonly #third = Promise.withResolvers<void>();
  readonly #hurry = new AbortController();
  readonly #options: Required<StopSignalsOptions>;
  #isLoading = true;
  #count = 0;
  #countedAt = Number.NEGATIVE_INFINITY;
  #wantsReload = false;
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
    for (const name of stopping) source.on(name, () => this.#stop(name));
    for (const name of ignored) source.on(name, () => undefined);
    source.on('SIGHUP', () => this.#askForReload());
  }

  /** Marks that the process has resources to close. */
  begin(): void {
    this.#isLoading = false;
  }

  /** Stops the gateway because of an error. */
  fail(error: Error): void {
    this.#first.resolve(error);
  }

  /** Follows an order of the supervisor. */
  obey(order: StopOrder): void {
    if (order === 'hurry') this.#hurry.abort();
    else if (order === 'end') this.#third.resolve();
    else this.#first.resolve(order);
  }

  /** Calls back at each SIGHUP, and at once if one came before. */
  onReload(reload: () => void): void {
    this.#reload = reload;
    if (this.#wantsReload) reload();
  }

  #stop(name: NodeJS.Signals): void {
    const { now, isTerminal, exit } = this.#options;
    if (this.#isLoading) return exit();
    if (now() - this.#countedAt < sameSignalMs) return;
    this.#countedAt = now();
    this.#count++;
    if (this.#count > 1 || (name === 'SIGINT' && isTerminal)) this.#hurry.abort();
    if (this.#count === 1) this.#first.resolve(name);
    if (this.#count === 3) this.#third.resolve();
  }

  #askForReload(): void {
    if (this.#reload === undefined) this.#wantsReload = true;
    else this.#reload();
  }
}
