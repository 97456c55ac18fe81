/**
 * Passes a value on, synchronously if it is already available, because each `await` of a value costs two promises.
 *
 * @returns the result of `proceed`, or a promise of it if `value` is a promise
 */
export function whenSettled<T, R>(value: T | Promise<T>, proceed: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then((settled) => proceed(settled)) : proceed(value);
}
