/**
 * Hands a value on: at once if it is there, since each `await` of one costs two promises.
 *
 * @returns what `proceed` returns; a promise of it for a promise
 */
export function whenSettled<T, R>(value: T | Promise<T>, proceed: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then((settled) => proceed(settled)) : proceed(value);
}
