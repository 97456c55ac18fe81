/** PostgreSQL channel on which the command line asks every instance to reset a route. */
export const resetChannel = 'daypass_route_reset';
