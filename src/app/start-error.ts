/** The service cannot start; the message is for the operator and names the key, what was found and the way out. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
