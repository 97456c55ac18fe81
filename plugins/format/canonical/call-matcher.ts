/**
 * Matches calls and results without ids, which Gemini allows, and Responses for results: such a result answers the first open call
 * of its name in the latest turn that has one. New ids depend only on earlier calls, so that they stay the same from turn to turn.
 */
export class CallMatcher {
  #count = 0;
  #turn = 0;
  #open: { readonly id: string; readonly name: string; readonly turn: number }[] = [];

  call(name: string, given: string | undefined): string {
    const id = given ?? `call_${this.#count}_${name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 40)}`;
    this.#count++;
    this.#open.push({ id, name, turn: this.#turn });
    return id;
  }

  /**
   * Id of the call that a result belongs to; a new id if no call matches.
   *
   * @param name undefined to match a call of any name
   */
  result(name: string | undefined, given: string | undefined): string {
    const isNamed = (call: { readonly name: string }) => name === undefined || call.name === name;
    const byId = this.#open.findLast(({ id }) => id === given);
    const latest = this.#open.findLast(isNamed)?.turn;
    const found = byId ?? this.#open.find((call) => isNamed(call) && call.turn === latest);
    this.#open = this.#open.filter((call) => call !== found);
    return found?.id ?? given ?? `result_${this.#count}_${name ?? ''}`;
  }

  answer(id: string): void {
    const at = this.#open.findLastIndex((call) => call.id === id);
    if (at !== -1) this.#open.splice(at, 1);
  }

  endTurn(): void {
    this.#turn++;
  }
}
