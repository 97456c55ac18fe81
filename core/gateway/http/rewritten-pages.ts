import type { Request, Server } from '@hapi/hapi';

/*
 * Apart from the server: what registers pages is loaded by commands too, which do without hapi.
 */

const rewriters = new WeakMap<Server, (request: Request) => void>();

/**
 * Lets requests for pages be routed differently than by their path, with `request.setUrl`. Not a separate extension, because with a second
 * one API calls would no longer leave hapi early.
 */
export function rewritePages(server: Server, rewrite: (request: Request) => void): void {
  rewriters.set(server, rewrite);
}

export function rewritePage(server: Server, request: Request): void {
  rewriters.get(server)?.(request);
}
