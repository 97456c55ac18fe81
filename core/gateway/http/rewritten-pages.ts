import type { Request, Server } from '@hapi/hapi';

/*
 * A module of its own, because commands load the modules that register pages, and must not load the server with hapi.
 */

const rewriters = new WeakMap<Server, (request: Request) => void>();

/**
 * Sets a function that may change the route of page requests with `request.setUrl`. It is not a hapi extension, because API calls bypass
 * hapi only while there is no second extension.
 */
export function setPageRewriter(server: Server, rewrite: (request: Request) => void): void {
  rewriters.set(server, rewrite);
}

export function rewritePage(server: Server, request: Request): void {
  rewriters.get(server)?.(request);
}
