import type { RecordStore } from './record-store.ts';

/** An id is hexadecimal, and quotes inside of other members are escaped. */
const accountMember = /"account_id":"([\w-]+)"/;

/** A store that reports whose records it has committed, so that their open pages show them. */
export class PublishingStore implements RecordStore {
  readonly #store: RecordStore;
  readonly #announce: (accountIds: ReadonlySet<string>) => void;

  constructor(store: RecordStore, announce: (accountIds: ReadonlySet<string>) => void) {
    this.#store = store;
    this.#announce = announce;
  }

  async insert(instance: string, records: readonly string[]): Promise<void> {
    await this.#store.insert(instance, records);
    this.#announce(new Set(records.flatMap((record) => accountMember.exec(record)?.[1] ?? [])));
  }

  probe(): Promise<void> {
    return this.#store.probe();
  }

  insertContent(lines: readonly string[]): Promise<void> {
    return this.#store.insertContent(lines);
  }
}
