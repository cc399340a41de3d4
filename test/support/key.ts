/** The key of the services that tests start. */
export const KEY = 'test-key-of-sixteen-and-more';
