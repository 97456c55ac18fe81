/** A start that cannot be, for a reason outside of the code: the message says what to do, and a stack would add nothing. */
export class StartRefused extends Error {
  override readonly name = 'StartRefused';
}
