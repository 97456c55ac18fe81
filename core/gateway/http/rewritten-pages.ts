import type { Request, Server } from '@hapi/hapi';

/*
 * Apart from the server: what registers pages is loaded by commands too, which do without hapi.
 */

const rewriters = new WeakMap<Server, (request: Request) => void>();

/**
 * Lets some requests for pages go to another route than that of their path, by `request.setUrl`. Not an extension of its own: with a second
 * one, calls of the API would no longer leave hapi early.
 */
export function rewritePages(server: Server, rewrite: (request: Request) => void): void {
  rewriters.set(server, rewrite);
}

export function rewritePage(server: Server, request: Request): void {
  rewriters.get(server)?.(request);
}
