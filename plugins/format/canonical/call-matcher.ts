/**
 * Matches calls and results without ids, which Gemini allows for both and Responses only for results. Such a result belongs to the first
 * open call with its name, in the latest turn that has one. New ids depend only on earlier calls, so they stay the same from turn to turn.
 */
export class CallMatcher {
  #callCount = 0;
  #turn = 0;
  #openCalls: { readonly id: string; readonly name: string; readonly turn: number }[] = [];

  addCall(name: string, givenId: string | undefined): string {
    const id = givenId ?? `call_${this.#callCount}_${name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 40)}`;
    this.#callCount++;
    this.#openCalls.push({ id, name, turn: this.#turn });
    return id;
  }

  /** Without a name, calls of any name match. If none matches, the result keeps its id or gets a new one. */
  matchResult(name: string | undefined, givenId: string | undefined): string {
    const hasName = (call: { readonly name: string }) => name === undefined || call.name === name;
    const callById = this.#openCalls.findLast(({ id }) => id === givenId);
    const latestTurn = this.#openCalls.findLast(hasName)?.turn;
    const match = callById ?? this.#openCalls.find((call) => hasName(call) && call.turn === latestTurn);
    this.#openCalls = this.#openCalls.filter((call) => call !== match);
    return match?.id ?? givenId ?? `result_${this.#callCount}_${name ?? ''}`;
  }

  closeCall(id: string): void {
    const index = this.#openCalls.findLastIndex((call) => call.id === id);
    if (index !== -1) this.#openCalls.splice(index, 1);
  }

  endTurn(): void {
    this.#turn++;
  }
}
