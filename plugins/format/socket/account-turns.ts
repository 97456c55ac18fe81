/** Requests of an account on its sockets that run, on this process. */
export interface AccountTurns {
  /** Requests in flight that it may have; undefined while unknown. */
  concurrent: number | undefined;
  running: number;
  sockets: number;
  /** Sockets that wait for one to end, in turn. */
  readonly waiting: Set<() => void>;
}

/** What is known of the accounts that have sockets. */
export class AccountsOnline {
  readonly #accounts = new Map<string, AccountTurns>();

  socketsOf(account: string): number {
    return this.#accounts.get(account)?.sockets ?? 0;
  }

  open(account: string): AccountTurns {
    const turns = this.#accounts.get(account) ?? { concurrent: undefined, running: 0, sockets: 0, waiting: new Set() };
    this.#accounts.set(account, turns);
    turns.sockets++;
    return turns;
  }

  close(account: string, turns: AccountTurns): void {
    turns.sockets--;
    if (turns.sockets === 0) this.#accounts.delete(account);
  }
}

export function hasRoom({ concurrent, running }: AccountTurns): boolean {
  return running < (concurrent ?? Infinity);
}

/** One has ended: who waits longest looks first. */
export function endTurn(turns: AccountTurns): void {
  turns.running--;
  const next = [...turns.waiting];
  turns.waiting.clear();
  for (const look of next) look();
}
