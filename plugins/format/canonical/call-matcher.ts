/**
 * Matches calls and results without ids, which Gemini allows, and Responses allows for results. Such a result belongs to the first open
 * call of its name, in the latest turn that has such a call. New ids depend only on earlier calls, so they stay the same from turn to turn.
 */
export class CallMatcher {
  #count = 0;
  #turn = 0;
  #open: { readonly id: string; readonly name: string; readonly turn: number }[] = [];

  /** Records a call and returns its id. */
  call(name: string, givenId: string | undefined): string {
    const id = givenId ?? `call_${this.#count}_${name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 40)}`;
    this.#count++;
    this.#open.push({ id, name, turn: this.#turn });
    return id;
  }

  /**
   * Returns the id of the call that a result belongs to, or a new id if no call matches.
   *
   * @param name undefined to match a call of any name
   */
  result(name: string | undefined, givenId: string | undefined): string {
    const hasName = (call: { readonly name: string }) => name === undefined || call.name === name;
    const callById = this.#open.findLast(({ id }) => id === givenId);
    const latestTurn = this.#open.findLast(hasName)?.turn;
    const match = callById ?? this.#open.find((call) => hasName(call) && call.turn === latestTurn);
    this.#open = this.#open.filter((call) => call !== match);
    return match?.id ?? givenId ?? `result_${this.#count}_${name ?? ''}`;
  }

  /** Records that a call has its result. */
  answer(id: string): void {
    const index = this.#open.findLastIndex((call) => call.id === id);
    if (index !== -1) this.#open.splice(index, 1);
  }

  endTurn(): void {
    this.#turn++;
  }
}
