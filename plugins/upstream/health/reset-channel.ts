/** PostgreSQL channel on which the command line tells every instance to let a route in again. */
export const resetChannel = 'daypass_route_reset';
