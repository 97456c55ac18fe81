/** Where an item stands in a list. */
export interface Link<T> {
  readonly item: T;
  previous: Link<T> | undefined;
  next: Link<T> | undefined;
  isListed: boolean;
}

/**
 * Items in the order in which they came, of which any can leave at once. For what comes and goes thousands of times a
 * second: a Set or Map is then copied again and again, and an old copy that awaits the next full collection keeps alive
 * what was in it. That costs more than all else here.
 */
export class LinkedList<T> {
  #first: Link<T> | undefined;
  #last: Link<T> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The item that has been here longest. */
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

  /** Takes an item of this list out. Does nothing when it is out already. */
  remove(link: Link<T>): void {
    if (!link.isListed) return;
    const { previous, next } = link;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    // One that is held on to must not keep its neighbours alive.
    link.previous = undefined;
    link.next = undefined;
    link.isListed = false;
    this.#size--;
  }

  /** All items, as they are now. */
  items(): T[] {
    const items: T[] = [];
    for (let link = this.#first; link !== undefined; link = link.next) items.push(link.item);
    return items;
  }
}
