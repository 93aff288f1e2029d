import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import { createNodeResolver, importX } from 'eslint-plugin-import-x';
import tseslint from 'typescript-eslint';

const KAFKA_CLIENT = '@confluentinc/kafka-javascript';

/** What each folder of src may import of src besides itself: docs/DESIGN.md, "Shape". What is not listed (main, index, …) wires. */
const MAY_IMPORT = {
  config: [],
  transform: ['config/compiled.ts', 'pipeline'],
  pipeline: ['config/compiled.ts', 'transform'],
  kafka: ['config/compiled.ts', 'pipeline'],
  serde: ['config/compiled.ts', 'config/why-unreadable.ts', 'pipeline'],
  'dead-letters': ['config/compiled.ts', 'pipeline', 'transform'],
  // Of what a user's code threw the log shows the user's frames.
  observability: ['config/compiled.ts', 'page/overview.ts', 'pipeline', 'transform/errors.ts', 'transform/stack.ts'],
  page: [],
  effects: ['config/compiled.ts', 'pipeline', 'serde', 'transform'],
  // A tool, not part of the loop: it has the clients' own calls, and no port between.
  prove: ['config/compiled.ts', 'pipeline', 'kafka', 'transform', 'dead-letters'],
  check: ['config/compiled.ts', 'kafka'],
  supervisor: ['config/compiled.ts', 'exit-codes.ts', 'observability', 'pipeline'],
};

const importZones = Object.entries(MAY_IMPORT).map(([folder, others]) => ({
  target: `./src/${folder}`,
  from: './src',
  except: [folder, ...others].map((path) => `./${path}`),
  message: `src/${folder} imports only itself${others.map((path) => `, src/${path}`).join('')}; src/main.ts wires the rest.`,
}));

export default defineConfig(
  globalIgnores(['dist', '.cache', 'coverage']),
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  js.configs.recommended,

  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
      // Wrong about state that another callback changes meanwhile, which a loop around a client is full of.
      '@typescript-eslint/no-unnecessary-condition': 'off',
      '@typescript-eslint/prefer-promise-reject-errors': ['error', { allowThrowingUnknown: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    },
  },

  {
    files: ['src/**/*.ts'],
    plugins: { 'import-x': importX },
    settings: { 'import-x/resolver-next': [createNodeResolver()] },
    rules: {
      'import-x/no-cycle': 'error',
      'import-x/no-extraneous-dependencies': ['error', { devDependencies: false }],
      'import-x/no-restricted-paths': ['error', { zones: importZones }],
      'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
      'no-console': 'error',
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/kafka/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        { name: KAFKA_CLIENT, message: 'Only src/kafka talks to the Kafka client.' },
        { name: 'node:process', importNames: ['env'], message: 'Only src/config reads the environment.' },
      ],
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/config/**'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Only src/config reads the environment.' },
      ],
    },
  },

  {
    // Checks and tools may assert what production code has to check.
    files: ['{test,dev,bench}/**/*.ts', '*.config.ts'],
    rules: {
      '@typescript-eslint/no-confusing-void-expression': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/require-await': 'off',
    },
  },
  {
    // Plain JavaScript runs before anything is installed or built, outside the TypeScript project: its globals are Node's.
    files: ['**/*.{js,mjs,cjs}'],
    languageOptions: {
      globals: Object.fromEntries(Object.getOwnPropertyNames(globalThis).map((name) => [name, 'readonly'])),
    },
  },
);
