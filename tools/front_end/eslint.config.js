import js from "@eslint/js";
import globals from "globals";

export default [
  js.configs.recommended,
  {
    languageOptions: { globals: globals.browser },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      eqeqeq: ["error", "always", { null: "ignore" }],
      "no-restricted-properties": [
        "error",
        // Tokens are strangers' text: they go in as text.
        ...["innerHTML", "outerHTML", "insertAdjacentHTML"].map((property) => ({ property })),
      ],
      "no-restricted-syntax": [
        "error",
        {
          selector: "TemplateElement[value.raw=/\\n/]",
          message: "Bundling takes the indentation away (bundle.py), so that no text spans lines.",
        },
      ],
      "no-var": "error",
      "prefer-const": "error",
    },
  },
];
