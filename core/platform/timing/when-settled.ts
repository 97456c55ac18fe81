/**
 * Passes a value to `proceed`, synchronously if it is not a promise, because each `await` costs two promises.
 *
 * @returns the result of `proceed`, or a promise of it if `value` is a promise
 */
export function whenSettled<T, R>(value: T | Promise<T>, proceed: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then((settled) => proceed(settled)) : proceed(value);
}
