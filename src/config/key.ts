/**
 * How a configuration key is declared by the module that owns it: type, unit, default, range, what 0 means, environment
 * variables, secrecy. A module lists its keys in a group; `ConfigOf` gives the type of the values that come out of it.
 */
export { checkAddress, checkListenAddress, checkSecureUrl } from './key-checks.js';
export { type CrossCheck, type Findings, section, type Targets, targets } from './key-groups.js';
export { type ConfigOf, type Key, type KeyGroup, shown } from './key-types.js';
export {
  bytes,
  choice,
  duration,
  flag,
  optionalFlag,
  path,
  paths,
  secret,
  text,
  texts,
  wholeNumber,
} from './key-values.js';
export { Secret } from './secret.js';
