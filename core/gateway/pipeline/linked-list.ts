/** The position of an item in a list. Callers must not change it, only pass it to `remove`. */
export interface Link<T> {
  readonly item: T;
  previous: Link<T> | undefined;
  next: Link<T> | undefined;
  isListed: boolean;
}

/**
 * Items in order of insertion, removable in constant time. With thousands of insertions per second, a Set or Map would rehash repeatedly,
 * and its old tables would keep items alive until the next full garbage collection.
 */
export class LinkedList<T> {
  #first: Link<T> | undefined;
  #last: Link<T> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get first(): T | undefined {
    return this.#first?.item;
  }

  add(item: T): Link<T> {
    const link: Link<T> = { item, previous: this.#last, next: undefined, isListed: true };
    if (this.#last === undefined) this.#first = link;
    else this.#last.next = link;
    this.#last = link;
    this.#size++;
    return link;
  }

  /** Does nothing if the item was already removed. */
  remove(link: Link<T>): void {
    if (!link.isListed) return;
    const { previous, next } = link;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    // A removed link that is still referenced must not keep its neighbors alive.
    link.previous = undefined;
    link.next = undefined;
    link.isListed = false;
    this.#size--;
  }

  /** Returns a snapshot of all items, oldest first. */
  items(): T[] {
    const items: T[] = [];
    for (let link = this.#first; link !== undefined; link = link.next) items.push(link.item);
    return items;
  }
}
