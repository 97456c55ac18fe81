/** What the commands do, loaded when one of them runs. */
export { followRequests } from './follow.ts';
export { printRequest, printRequests } from './print-requests.ts';
export { printUsage } from './print-usage.ts';
export { readSelection } from './request-options.ts';
