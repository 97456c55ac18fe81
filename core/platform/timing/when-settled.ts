/**
 * Hands a value on: at once if it is there, since each `await` of one costs two promises.
 *
 * @returns what `next` returns; a promise of it for a promise
 */
export function whenSettled<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then((settled) => next(settled)) : next(value);
}
