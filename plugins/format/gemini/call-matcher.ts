/**
 * Matches calls and results, which need no ids in this format: a result without one answers the first open call of its
 * name. New ids depend only on the calls before, so that they stay the same from turn to turn.
 */
export class CallMatcher {
  #count = 0;
  #open: { readonly id: string; readonly name: string }[] = [];

  /** The id of a call. */
  call(name: string, given: string | undefined): string {
    const id = given ?? `call_${this.#count}_${name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 40)}`;
    this.#count++;
    this.#open.push({ id, name });
    return id;
  }

  /** The id of the call that a result belongs to; a new one when there is none. */
  result(name: string, given: string | undefined): string {
    const byId = this.#open.find(({ id }) => id === given);
    const found = byId ?? this.#open.find((call) => call.name === name);
    this.#open = this.#open.filter((call) => call !== found);
    return found?.id ?? given ?? `result_${this.#count}_${name}`;
  }
}
