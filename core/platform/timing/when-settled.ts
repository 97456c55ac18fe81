export type Awaitable<T> = T | Promise<T>;

/** Passes a value to `proceed`, synchronously if it is not a promise, because each `await` costs two promises. */
export function whenSettled<T, R>(value: Awaitable<T>, proceed: (value: T) => Awaitable<R>): Awaitable<R> {
  return value instanceof Promise ? value.then((settled) => proceed(settled)) : proceed(value);
}
